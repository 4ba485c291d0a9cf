//! The index journal, which is a single row that is always replaced as a whole.

use serde::{Deserialize, Serialize};

use super::client::Client;
use super::error::ClusterError;
use super::rows::Rows;
use super::schema::Tables;
use super::servers::Servers;
use super::sql;
use crate::engine::journal::Journal;
use crate::engine::limits::Limits;

/// A state of the index. Inserting it publishes it atomically.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    /// Version of this row.
    pub(super) version: u64,
    /// Incremented whenever rows might have been deleted that are visible in older states.
    pub(super) purges: u64,
    /// The part of the journal that is common to all engines.
    pub(super) journal: Journal,
    /// Batches of dead rows that are still stored, so searches have to hide them.
    pub(super) dead: Vec<u64>,
    /// Highest batch number so far. Batches above it are newer than this state.
    pub(super) last_batch: u64,
    /// Whether the journal accounts for every stored row, except for rows of an open run.
    #[serde(default)]
    pub(super) settled: bool,
}

impl Record {
    /// Returns the highest visible file id. An open run only adds higher ids.
    pub(super) fn cutoff(&self) -> u64 {
        self.journal.open.as_ref().map_or(self.journal.rows, |open| open.first_row)
    }

    /// Returns the condition for visible rows.
    pub(super) fn visible(&self, tables: &Tables) -> String {
        let mut conditions = vec![format!("id <= {}", self.cutoff())];
        conditions.extend(self.not_dead(tables));
        conditions.join(" AND ")
    }

    /// Returns the visibility conditions that are sufficient as long as this is the newest state.
    /// If there aren't any, ClickHouse can count the rows for a word without reading them.
    pub(super) fn visible_while_newest(&self, tables: &Tables) -> Vec<String> {
        let all = self.settled && self.journal.open.is_none();
        let cutoff = (!all).then(|| format!("id <= {}", self.cutoff()));
        cutoff.into_iter().chain(self.not_dead(tables)).collect()
    }

    fn not_dead(&self, tables: &Tables) -> Option<String> {
        (!self.dead.is_empty()).then(|| format!("NOT {}", self.is_dead(tables)))
    }

    /// Returns the condition for dead rows.
    pub(super) fn is_dead(&self, tables: &Tables) -> String {
        dead_in(&tables.dead, &self.dead)
    }
}

/// Returns the condition for rows in any of these batches.
pub(super) fn dead_in(table: &str, batches: &[u64]) -> String {
    let batches = sql::numbers(batches);
    format!(
        "((bucket, run) IN (SELECT bucket, run FROM {table} WHERE batch IN {batches} AND id = 0) \
         OR id IN (SELECT id FROM {table} WHERE batch IN {batches} AND id > 0))"
    )
}

/// Reads the newest state. Returns `None` if the tables don't exist.
pub(super) fn latest(client: &Client, tables: &Tables) -> Result<Option<Record>, ClusterError> {
    let table = &tables.all_journal;
    let statement = format!(
        "SELECT document FROM {table} ORDER BY version DESC LIMIT 1 \
         SETTINGS load_balancing = 'in_order' FORMAT RowBinary"
    );
    match client.look_up(&client.target.base, &statement) {
        Ok(answer) => read(&answer).map(Some),
        Err(error) if error.is_missing_table() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads just the `version` and `purges` of the newest state, within a search's limits if given.
pub(super) fn mark(
    client: &Client,
    tables: &Tables,
    limits: Option<&Limits>,
) -> Result<(u64, u64), ClusterError> {
    let table = &tables.all_journal;
    let statement = format!(
        "SELECT version, purges FROM {table} ORDER BY version DESC LIMIT 1 \
         SETTINGS load_balancing = 'in_order' FORMAT RowBinary"
    );
    let answer = match limits {
        Some(limits) => client.execute_within(&client.target.base, &statement, limits)?,
        None => client.look_up(&client.target.base, &statement)?,
    };
    let mut rows = Rows::of(&answer);
    if rows.is_at_end() { Ok((0, 0)) } else { Ok((rows.u64()?, rows.u64()?)) }
}

/// Publishes a state.
pub(super) fn commit(
    client: &Client,
    servers: &Servers,
    tables: &Tables,
    record: &Record,
) -> Result<(), ClusterError> {
    let document = serde_json::to_string(record)
        .map_err(|error| ClusterError::Invalid(format!("the journal: {error}")))?;
    let statement = format!(
        "INSERT INTO {} VALUES (0, {}, {}, {})",
        tables.journal,
        record.version,
        record.purges,
        sql::text(&document)
    );
    // Write to the first server first, because states are read from it.
    servers
        .journal_servers()
        .try_for_each(|server| client.execute(&server.url, &statement).map(drop))
}

/// Copies the newest state to any server that missed the last commit, and returns it.
pub(super) fn repair(
    client: &Client,
    servers: &Servers,
    tables: &Tables,
) -> Result<Record, ClusterError> {
    let statement = format!(
        "SELECT document FROM {} ORDER BY version DESC LIMIT 1 FORMAT RowBinary",
        tables.journal
    );
    let mut states = Vec::new();
    for server in servers.journal_servers() {
        states.push(read(&client.look_up(&server.url, &statement)?)?);
    }
    let newest = states.iter().max_by_key(|record| record.version).cloned().unwrap_or_default();
    if states.iter().any(|record| record.version < newest.version) {
        commit(client, servers, tables, &newest)?;
    }
    Ok(newest)
}

fn read(answer: &[u8]) -> Result<Record, ClusterError> {
    let mut rows = Rows::of(answer);
    if rows.is_at_end() {
        return Ok(Record::default());
    }
    serde_json::from_str(&rows.text()?)
        .map_err(|error| ClusterError::Invalid(format!("the journal cannot be read: {error}")))
}
