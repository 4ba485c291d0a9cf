//! The layout of the account tables: on one server or on several.

use database::{Backend, DatabaseError, Db};

use super::versions;

/// The layout of the account tables, which was chosen when the database was migrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// In a SQLite file, or on one PostgreSQL server.
    #[default]
    OneServer,
    /// Distributed over the servers of a Citus cluster by [`shard`](super::shard).
    Distributed,
}

impl Layout {
    /// Reads the layout from a database.
    pub fn of(db: &mut Db) -> Result<Self, DatabaseError> {
        if db.backend() == Backend::Postgres && versions::get(db, versions::DISTRIBUTED)?.is_some()
        {
            return Ok(Self::Distributed);
        }
        Ok(Self::OneServer)
    }

    /// Returns whether the accounts are on several servers.
    pub fn is_distributed(self) -> bool {
        self == Self::Distributed
    }
}
