//! Servers of a distributed database.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};

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
