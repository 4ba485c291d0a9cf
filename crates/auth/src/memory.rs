//! A key cache that stays valid until the database changes.

use std::collections::HashMap;
use std::sync::Arc;

use database::{Backend, DatabaseError, Db, Pools};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use parking_lot::{Mutex, MutexGuard};

use crate::Key;

/// Maximum number of cached keys. A service with more keys than this should be on PostgreSQL.
const MOST: usize = 100_000;

/// Caches the keys in a SQLite file and forgets them whenever the file changes.
///
/// When another process revokes a key, it must stop working immediately. `PRAGMA data_version`
/// shows whether any other connection, in any process, has committed since the last call. It only
/// reads shared memory, so it is much cheaper than a query on another thread. PostgreSQL doesn't
/// have an equivalent, so there we query the database for every lookup.
pub(crate) struct Memory {
    kept: Mutex<Kept>,
}

struct Kept {
    /// This connection never writes, because its own commits wouldn't change the version.
    db: Db,
    version: i64,
    keys: HashMap<[u8; 32], Arc<Key>>,
}

pub(crate) enum Look {
    /// The key is cached.
    Known(Arc<Key>),
    /// We have to query the database. Pass the version to [`Memory::keep`] afterwards.
    Ask(Option<i64>),
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = BigInt)]
    data_version: i64,
}

impl Memory {
    /// Creates a cache for a SQLite file. Returns `None` for PostgreSQL.
    pub fn of(pools: &Pools) -> Option<Self> {
        if pools.backend() != Backend::Sqlite {
            return None;
        }
        let open = || -> Result<Kept, DatabaseError> {
            let mut db = pools.connect()?;
            let version = version(&mut db)?;
            Ok(Kept { db, version, keys: HashMap::new() })
        };
        match open() {
            Ok(kept) => Some(Self { kept: Mutex::new(kept) }),
            Err(error) => {
                log::warn!("keys are not cached: {error}");
                None
            }
        }
    }

    /// Looks up a digest. Clears the cache first if the file has changed.
    pub fn look(&self, digest: &[u8; 32]) -> Look {
        let mut kept = self.kept();
        let Ok(version) = version(&mut kept.db) else {
            kept.keys.clear();
            return Look::Ask(None);
        };
        if version != kept.version {
            kept.keys.clear();
            kept.version = version;
        }
        match kept.keys.get(digest) {
            Some(key) => Look::Known(Arc::clone(key)),
            None => Look::Ask(Some(version)),
        }
    }

    /// Caches a key that was read from the database, unless the file has changed since.
    pub fn keep(&self, digest: [u8; 32], key: Arc<Key>, asked_at: i64) {
        let mut kept = self.kept();
        if kept.version == asked_at && kept.keys.len() < MOST {
            kept.keys.insert(digest, key);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}

fn version(db: &mut Db) -> Result<i64, DatabaseError> {
    let version: Version = diesel::sql_query("PRAGMA data_version").get_result(db)?;
    Ok(version.data_version)
}
