//! A cache of keys that is valid until the database changes.

use std::collections::HashMap;
use std::sync::Arc;

use database::{Backend, DatabaseError, Db, Pools};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use parking_lot::{Mutex, MutexGuard};

use crate::Key;

/// Maximum number of cached keys. Services that need more use PostgreSQL.
const MOST: usize = 100_000;

/// A cache of the keys in a SQLite file. It is cleared whenever the file changes.
///
/// A key that another process revokes must stop working immediately. `PRAGMA data_version` reports
/// whether any other connection, in any process, has committed since the last call. It reads only
/// shared memory, and is therefore much cheaper than a query on another thread. PostgreSQL has no
/// equivalent, so each look-up there is a query.
pub(crate) struct Memory {
    kept: Mutex<Kept>,
}

struct Kept {
    /// A connection that never writes, because its own commits would not change the version.
    db: Db,
    version: i64,
    keys: HashMap<[u8; 32], Arc<Key>>,
}

/// The result of looking up a digest in the cache.
pub(crate) enum Look {
    /// The key is cached.
    Known(Arc<Key>),
    /// The database must be queried. Pass the version to [`Memory::keep`].
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

    /// Caches a key from the database, unless the file has changed since it was queried.
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
