//! A key cache that stays valid until the database changes.

use std::collections::HashMap;
use std::sync::Arc;

use database::{Backend, DatabaseError, Db, Pools};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use parking_lot::{Mutex, MutexGuard};

use crate::Key;

/// Maximum number of cached keys. Services with more keys should use PostgreSQL.
const MOST: usize = 100_000;

/// Caches the keys from a SQLite file, and drops them whenever the file changes.
///
/// A key must stop working as soon as any process revokes it. `PRAGMA data_version` shows whether
/// another connection, in any process, has committed since the last call. It only reads shared
/// memory, so it is much cheaper than a query on another thread. PostgreSQL has nothing comparable,
/// so there we query the database for each lookup.
pub(crate) struct Memory {
    kept: Mutex<Kept>,
}

struct Kept {
    /// A connection that never writes, since its own commits wouldn't change the version.
    db: Db,
    version: i64,
    keys: HashMap<[u8; 32], Arc<Key>>,
}

pub(crate) enum Look {
    /// The key is cached.
    Known(Arc<Key>),
    /// The database has to be queried. Pass the version to [`Memory::keep`] afterwards.
    Ask(Option<i64>),
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = BigInt)]
    data_version: i64,
}

impl Memory {
    /// Creates a cache for a SQLite file, or returns `None` for PostgreSQL.
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

    /// Looks up a digest, clearing the cache first if the file has changed.
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

    /// Caches a key read from the database, unless the file has changed since then.
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
