//! Layout of the account tables: one server or several.

use database::{Backend, DatabaseError, Db};

use super::versions;

/// Layout of the account tables, fixed when the database is migrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// A SQLite file or a single PostgreSQL server.
    #[default]
    OneServer,
    /// Spread over a Citus cluster by [`shard`](super::shard).
    Distributed,
}

impl Layout {
    /// Detects the layout of a database.
    pub fn of(db: &mut Db) -> Result<Self, DatabaseError> {
        if db.backend() == Backend::Postgres && versions::get(db, versions::DISTRIBUTED)?.is_some()
        {
            return Ok(Self::Distributed);
        }
        Ok(Self::OneServer)
    }

    pub fn is_distributed(self) -> bool {
        self == Self::Distributed
    }
}
