//! Servers of a distributed database.

use database::{DatabaseError, Db};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};

use super::layout::Layout;
use super::shard;
#[cfg(doc)]
use super::versions;

/// A server that stores accounts.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct Worker {
    /// `HOST:PORT`.
    #[diesel(sql_type = Text)]
    pub name: String,
    /// Number of the account table's shards on this server.
    #[diesel(sql_type = BigInt)]
    pub parts: i64,
    /// Whether it responded.
    #[diesel(sql_type = Bool)]
    pub is_up: bool,
}

/// Completes transactions that have been committed while a server failed, so that their rows become
/// visible. Citus itself does that within a minute, during which a removal would pass over them.
///
/// Does nothing on a single server, or if the role may not call Citus' function. The caller must
/// hold the lock of [`versions::lock_accounts`].
pub fn complete_commits(db: &mut Db) -> Result<(), DatabaseError> {
    if !Layout::of(db)?.is_distributed() {
        return Ok(());
    }
    let may_call: bool = diesel::select(sql::<Bool>(
        "has_function_privilege('recover_prepared_transactions()', 'EXECUTE')",
    ))
    .get_result(db)?;
    if may_call {
        diesel::sql_query("SELECT recover_prepared_transactions()").execute(db)?;
    }
    Ok(())
}

/// Like [`complete_commits`], but fails while a server is down, because its transactions cannot be
/// completed then. A job that repeats its work until the server is back would be faster than Citus.
///
/// # Errors
/// [`DatabaseError::Busy`] while a server is down, or any other error.
pub fn complete_all_commits(db: &mut Db) -> Result<(), DatabaseError> {
    if Layout::of(db)?.is_distributed() && workers(db)?.iter().any(|worker| !worker.is_up) {
        return Err(DatabaseError::Busy);
    }
    complete_commits(db)
}

/// Like [`complete_commits`], but fails while the server that stores an account key is down. It
/// might return right afterwards, and a removal would then pass over rows that it has not committed.
///
/// # Errors
/// [`DatabaseError::Busy`] while the server is down, or any other error.
pub fn complete_commits_of(db: &mut Db, k: i64) -> Result<(), DatabaseError> {
    if Layout::of(db)?.is_distributed() && !is_up(db, shard::of_key(k))? {
        return Err(DatabaseError::Busy);
    }
    complete_commits(db)
}

/// Pings the server of a shard. The coordinator, if it has accounts, is always up.
fn is_up(db: &mut Db, shard: i16) -> Result<bool, DatabaseError> {
    Ok(diesel::select(sql::<Bool>(&format!(
        "(SELECT coalesce(bool_and(part.groupid = 0 OR coalesce(answer.success, FALSE)), FALSE) \
         FROM pg_dist_placement AS part JOIN pg_dist_node AS node \
         ON node.groupid = part.groupid AND node.noderole = 'primary' \
         LEFT JOIN run_command_on_workers('SELECT 1') AS answer \
         ON answer.nodename = node.nodename AND answer.nodeport = node.nodeport \
         WHERE part.shardid = get_shard_id_for_distribution_column('account', {shard}))"
    )))
    .get_result(db)?)
}

/// Pings every enabled server. A disabled server is reported as down if it has accounts and is left
/// out otherwise.
pub fn workers(db: &mut Db) -> Result<Vec<Worker>, DatabaseError> {
    Ok(diesel::sql_query(
        "SELECT node.nodename || ':' || node.nodeport AS name, count(part.shardid) AS parts, \
         coalesce(bool_and(answer.success), FALSE) AS is_up FROM pg_dist_node AS node \
         LEFT JOIN run_command_on_workers('SELECT 1') AS answer \
         ON answer.nodename = node.nodename AND answer.nodeport = node.nodeport \
         LEFT JOIN pg_dist_placement AS part ON part.groupid = node.groupid AND part.shardid IN \
         (SELECT shardid FROM pg_dist_shard WHERE logicalrelid = 'account'::REGCLASS) \
         WHERE node.groupid > 0 AND node.noderole = 'primary' \
         GROUP BY node.nodename, node.nodeport, node.isactive \
         HAVING node.isactive OR count(part.shardid) > 0 ORDER BY 1",
    )
    .load(db)?)
}
