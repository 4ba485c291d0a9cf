//! Keys kept in memory as long as the database stands still.

use std::collections::HashMap;
use std::sync::Arc;

use database::{Backend, DatabaseError, Db, Pools};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use parking_lot::{Mutex, MutexGuard};

use crate::Key;

/// More keys than this are not kept; a service with so many has PostgreSQL.
const MOST: usize = 100_000;

/// Keys that were found in a SQLite file, forgotten at each change of the file.
///
/// A key that another process revokes must be dead at once. SQLite tells a connection by
/// `PRAGMA data_version` whether any other connection, in whatever process, has committed since it
/// last asked. The answer comes from shared memory, so it costs far less than a query on another
/// thread. PostgreSQL has nothing like it, so there each lookup is a query.
pub(crate) struct Memory {
    kept: Mutex<Kept>,
}

struct Kept {
    /// A connection that never writes: a connection's own commits would not change the version.
    db: Db,
    version: i64,
    keys: HashMap<[u8; 32], Arc<Key>>,
}

/// What memory says about a digest.
pub(crate) enum Look {
    /// The key is on file with this content.
    Known(Arc<Key>),
    /// The database must be asked; the version belongs to [`Memory::keep`].
    Ask(Option<i64>),
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = BigInt)]
    data_version: i64,
}

impl Memory {
    /// A memory for a SQLite file; none for PostgreSQL.
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
                log::warn!("keys are not kept in memory: {error}");
                None
            }
        }
    }

    /// Looks a digest up, after forgetting everything if the file changed.
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

    /// Keeps a key that the database gave, unless the file changed since it was asked for.
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
