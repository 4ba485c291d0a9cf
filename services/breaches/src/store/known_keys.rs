//! In-memory caches of API keys and their holders.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use database::{DatabaseError, Db, NumberReader, Pools};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment};
use diesel::sql_types::BigInt;
use diesel::sqlite::Sqlite;
use parking_lot::Mutex;

use super::key_holders::{self, Holder, KeyLookup};

/// Maximum number of keys in a cache.
const MAX: usize = 10_000;

/// Maximum time that keys are cached on PostgreSQL, in seconds. A failover that loses transactions
/// could repeat a version if the clock of the new server is behind.
const LONGEST: i64 = 60;

/// Triggers increase this number whenever a key, or anything that its [`Holder`] depends on,
/// changes.
const VERSION_QUERY: &CStr = c"SELECT value FROM meta WHERE key = 'keys_version'";

/// A version of the database or of its keys, and on PostgreSQL the number of the minute.
type Version = (i64, i64);

/// Live keys that were looked up while the database had a certain version.
#[derive(Debug, Default)]
struct Holders {
    version: Option<Version>,
    holders: HashMap<[u8; 32], Arc<Holder>>,
}

impl Holders {
    /// Clears the cache unless it has this version. Returns whether it was cleared.
    fn renew(&mut self, version: Option<Version>) -> bool {
        let changed = version.is_none() || version != self.version;
        if changed {
            self.holders.clear();
            self.version = version;
        }
        changed
    }

    fn get(&self, digest: &[u8; 32], now: i64) -> Option<KeyLookup> {
        let holder = self.holders.get(digest)?;
        let ended = holder.expires_at.is_some_and(|end| end <= now);
        Some(if ended { KeyLookup::Dead } else { KeyLookup::Live(Arc::clone(holder)) })
    }

    fn insert(&mut self, digest: &[u8; 32], found: &KeyLookup) {
        if let (KeyLookup::Live(holder), Some(_)) = (found, self.version)
            && self.holders.len() < MAX
        {
            self.holders.insert(*digest, Arc::clone(holder));
        }
    }
}

/// Live keys that a SQLite connection has looked up. Cleared whenever another connection changes
/// the database.
///
/// SQLite can report whether any other connection, even in another process, has committed since the
/// last check. So a key that was revoked elsewhere is rejected immediately, without a query for the
/// key on every request.
#[derive(Debug, Default)]
pub struct KnownKeys(Holders);

impl KnownKeys {
    /// Clears the cache if another connection has committed since the last call. Call this at the
    /// start of every read transaction. Returns `true` if the database may have changed.
    pub fn renew(&mut self, db: &mut Db) -> Result<bool, DatabaseError> {
        let version = data_version(db)?.map(|number| (number, 0));
        Ok(self.0.renew(version))
    }

    /// Looks up a key by digest, trying the cache first.
    pub fn find(
        &mut self,
        db: &mut Db,
        digest: &[u8; 32],
        now: i64,
    ) -> Result<KeyLookup, DatabaseError> {
        if let Some(known) = self.0.get(digest, now) {
            return Ok(known);
        }
        let found = key_holders::find(db, digest, now)?;
        self.0.insert(digest, &found);
        Ok(found)
    }
}

/// Live keys that a process has looked up on PostgreSQL.
///
/// The version of the keys is read once a request has arrived, by a single statement for all
/// requests that arrive together. So a key that any process has revoked is rejected immediately.
pub struct SharedKeys {
    version: NumberReader,
    known: Mutex<Holders>,
}

/// The result of a search in [`SharedKeys`].
#[derive(Clone, Debug, Default)]
pub struct KnownKey {
    /// `None` if the version could not be read, and on SQLite.
    version: Option<Version>,
    /// The key, if it is cached.
    pub lookup: Option<KeyLookup>,
}

impl SharedKeys {
    /// Creates an empty cache.
    pub fn new(pools: Pools) -> Self {
        Self { version: NumberReader::new(pools, VERSION_QUERY), known: Mutex::default() }
    }

    /// Looks up a key by digest in the cache.
    pub async fn find(&self, digest: &[u8; 32], now: i64) -> KnownKey {
        let Some(number) = self.version.read().await else { return KnownKey::default() };
        let version = Some((number, now / LONGEST));
        let mut known = self.known.lock();
        known.renew(version);
        KnownKey { version, lookup: known.get(digest, now) }
    }

    /// Caches a key that was read from the database after `known` was.
    pub fn keep(&self, known: &KnownKey, digest: &[u8; 32], found: &KeyLookup) {
        let mut holders = self.known.lock();
        if holders.version == known.version {
            holders.insert(digest, found);
        }
    }
}

/// `PRAGMA data_version`, prepared only once.
#[derive(Clone, Copy, diesel::query_builder::QueryId)]
struct DataVersion;

impl Query for DataVersion {
    type SqlType = BigInt;
}

impl QueryFragment<Sqlite> for DataVersion {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("PRAGMA data_version");
        Ok(())
    }
}

impl RunQueryDsl<SqliteConnection> for DataVersion {}

/// Returns a number that changes whenever another connection commits. `None` on PostgreSQL, which
/// has no equivalent.
fn data_version(db: &mut Db) -> Result<Option<i64>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => Ok(Some(DataVersion.get_result(conn)?)),
        Db::Pg(_) => Ok(None),
    }
}
