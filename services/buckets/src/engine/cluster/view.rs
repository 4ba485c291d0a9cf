//! A published state, cached in this process.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use super::client::Client;
use super::error::ClusterError;
use super::journal::{self, Record};
use super::rows::Rows;
use super::schema::Tables;
use super::servers::Servers;
use super::sql;
use crate::engine::journal::IndexSummary;
use crate::model::file_query::FileQuery;

/// Number of totals to cache, so that paging through a search doesn't count the results again.
const MOST_TOTALS: usize = 256;
/// Maximum number of attempts to read a consistent state.
const ATTEMPTS: usize = 20;

/// A published state of the index.
pub(super) struct View {
    pub(super) record: Record,
    pub(super) summary: Arc<IndexSummary>,
    totals: Mutex<HashMap<String, u64>>,
}

impl View {
    /// Reads the newest state. Returns `None` if the tables don't exist.
    pub(super) fn read(
        client: &Client,
        servers: &Servers,
        tables: &Tables,
    ) -> Result<Option<Self>, ClusterError> {
        for _ in 0..ATTEMPTS {
            let Some(record) = journal::latest(client, tables)? else {
                return Ok(None);
            };
            let counts = counts(client, tables, &record)?;
            if journal::mark(client, tables, None)?.1 != record.purges {
                continue;
            }
            let summary = IndexSummary {
                journal: record.journal.clone(),
                counts: Arc::new(counts),
                disk_bytes: disk_bytes(client, servers, tables)?,
                // Replaced rows are cleaned up by merges on the servers.
                dead_rows: 0,
            };
            return Ok(Some(Self { record, summary: Arc::new(summary), totals: Mutex::default() }));
        }
        Err(ClusterError::Invalid(
            "publishes are too frequent to read a consistent state".to_owned(),
        ))
    }

    /// Computes the total of a search that only filters by bucket.
    pub(super) fn total_by_bucket(&self, query: &FileQuery) -> u64 {
        let counts = &self.summary.counts;
        let wanted = |bucket: &u64| query.excluded_buckets.binary_search(bucket).is_err();
        match &query.buckets {
            None => {
                counts.iter().filter(|(bucket, _)| wanted(bucket)).map(|(_, count)| count).sum()
            }
            Some(buckets) => {
                let mut named = buckets.clone();
                named.dedup();
                named
                    .iter()
                    .filter(|bucket| wanted(bucket))
                    .filter_map(|bucket| counts.get(bucket))
                    .sum()
            }
        }
    }

    pub(super) fn known_total(&self, condition: &str) -> Option<u64> {
        self.totals.lock().get(condition).copied()
    }

    pub(super) fn remember_total(&self, condition: &str, total: u64) {
        let mut totals = self.totals.lock();
        if totals.len() >= MOST_TOTALS {
            totals.clear();
        }
        totals.insert(condition.to_owned(), total);
    }
}

/// Counts the visible files in each bucket.
pub(super) fn counts(
    client: &Client,
    tables: &Tables,
    record: &Record,
) -> Result<BTreeMap<u64, u64>, ClusterError> {
    let statement = format!(
        "SELECT bucket, count() FROM {} WHERE {} GROUP BY bucket FORMAT RowBinary",
        tables.all_files,
        record.visible(tables)
    );
    let answer = client.execute(&client.target.base, &statement)?;
    let mut rows = Rows::of(&answer);
    let mut counts = BTreeMap::new();
    while !rows.is_at_end() {
        counts.insert(rows.u64()?, rows.u64()?);
    }
    Ok(counts)
}

/// Returns the size of one copy of the rows, in bytes.
fn disk_bytes(client: &Client, servers: &Servers, tables: &Tables) -> Result<u64, ClusterError> {
    let statement = format!(
        "SELECT sum(bytes_on_disk) FROM {} WHERE active AND database = {} AND table = {} \
         FORMAT RowBinary",
        servers.across("system", "parts"),
        sql::text(&tables.database),
        sql::text(Tables::bare(&tables.files))
    );
    Rows::of(&client.execute(&client.target.base, &statement)?).u64()
}
