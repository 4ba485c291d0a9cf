//! The connection type used by all query functions.

use diesel::{PgConnection, SqliteConnection};

pub use connection::{Db, MultiBackend};

/// A separate module, because the derive macro generates undocumented public items.
mod connection {
    #![allow(missing_docs, unused_qualifications)]
    use super::{PgConnection, SqliteConnection};

    /// A diesel connection to either SQLite or PostgreSQL.
    ///
    /// To run statements that only work on the inner connections, match on it or use
    /// [`on_backend!`](crate::on_backend).
    #[derive(diesel::MultiConnection)]
    pub enum Db {
        /// SQLite, linked into the binary.
        Sqlite(SqliteConnection),
        /// PostgreSQL, over the network.
        Pg(PgConnection),
    }
}

/// The kind of database behind a [`Db`] or [`Pools`](crate::Pools).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// SQLite: a single file with a single writer.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

impl Db {
    /// Returns the kind of database that this connection uses.
    pub fn backend(&self) -> Backend {
        match self {
            Self::Sqlite(_) => Backend::Sqlite,
            Self::Pg(_) => Backend::Postgres,
        }
    }
}

/// Compiles an expression for both kinds of connections, for statements that [`Db`] can't run.
///
/// ```
/// use diesel::prelude::*;
/// use database::{Db, DatabaseError, on_backend};
///
/// diesel::table! { word (text) { text -> Text, uses -> BigInt, } }
///
/// fn count_uses(db: &mut Db, words: &[&str]) -> Result<(), DatabaseError> {
///     let rows: Vec<_> = words.iter().map(|w| (word::text.eq(*w), word::uses.eq(1_i64))).collect();
///     on_backend!(db, conn => diesel::insert_into(word::table)
///         .values(&rows)
///         .on_conflict(word::text)
///         .do_update()
///         .set(word::uses.eq(word::uses + 1))
///         .execute(conn))?;
///     Ok(())
/// }
/// ```
#[macro_export]
macro_rules! on_backend {
    ($db:expr, $conn:ident => $body:expr) => {
        match &mut *$db {
            $crate::Db::Sqlite($conn) => $body,
            $crate::Db::Pg($conn) => $body,
        }
    };
}
