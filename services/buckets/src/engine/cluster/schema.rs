//! Creates and drops a generation's tables.

use super::client::Client;
use super::error::ClusterError;
use super::features::Features;
use super::layout::{Layout, NAME_FOLDED};
use super::rows::Rows;
use super::servers::{Server, Servers};
use super::sql;
use super::target::Target;

/// A generation's table names.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) database: String,
    /// Rows on this server.
    pub(super) files: String,
    /// Rows to delete, identified either by bucket and run or by file id.
    pub(super) dead: String,
    pub(super) journal: String,
    /// Rows on all servers.
    pub(super) all_files: String,
    /// The journal, readable from any server.
    pub(super) all_journal: String,
}

impl Tables {
    /// Looks up the column layout. Returns `None` if the tables don't exist.
    pub(super) fn layout(&self, client: &Client) -> Result<Option<Layout>, ClusterError> {
        let statement = format!(
            "SELECT toUInt64(countIf(name = 'id')), toUInt64(countIf(name = '{NAME_FOLDED}')) \
             FROM system.columns WHERE database = {} AND table = {} FORMAT RowBinary",
            sql::text(&self.database),
            sql::text(Self::bare(&self.all_files)),
        );
        let answer = client.look_up(&client.target.base, &statement)?;
        let mut rows = Rows::of(&answer);
        Ok(match (rows.u64()?, rows.u64()?) {
            (0, _) => None,
            (_, 0) => Some(Layout::Plain),
            _ => Some(Layout::Indexed),
        })
    }

    pub(super) fn of(generation: u32, target: &Target, servers: &Servers) -> Self {
        let local = |name: &str| format!("{}.buckets_{name}_{generation}", target.database);
        let all = |name: &str| match servers.cluster {
            Some(_) => format!("{}_all", local(name)),
            None => local(name),
        };
        Self {
            database: target.database.clone(),
            files: local("files"),
            dead: local("dead"),
            journal: local("journal"),
            all_files: all("files"),
            all_journal: all("journal"),
        }
    }

    /// Strips the database from a table name.
    pub(super) fn bare(table: &str) -> &str {
        table.split_once('.').map_or(table, |(_, name)| name)
    }

    fn statements(&self, servers: &Servers, layout: Layout, features: Features) -> Vec<String> {
        let Self { files, dead, journal, .. } = self;
        let create = |table: &str, columns: &str, engine: &str| {
            format!("CREATE TABLE IF NOT EXISTS {table} ({columns}) ENGINE = {engine}")
        };
        let settings = features.part_settings();
        let local = |table: &str, columns: &str, engine: &str| {
            create(table, columns, &format!("{engine} SETTINGS {settings}"))
        };
        let mut statements = vec![
            local(files, &layout.columns_and_indexes(), FILES_ENGINE),
            local(dead, DEAD, DEAD_ENGINE),
            local(journal, JOURNAL, JOURNAL_ENGINE),
        ];
        if let Some(cluster) = &servers.cluster {
            let shared = |all: &str, columns: &str, local: &str, key: &str| {
                let (database, local) = (&self.database, Self::bare(local));
                create(all, columns, &format!("Distributed({cluster}, {database}, {local}, {key})"))
            };
            statements.push(shared(&self.all_files, &layout.columns(), files, "bucket"));
            statements.push(shared(&self.all_journal, JOURNAL, journal, "0"));
        }
        statements
    }

    /// Creates any tables that don't exist yet.
    pub(super) fn create(
        &self,
        client: &Client,
        servers: &Servers,
        layout: Layout,
        features: Features,
    ) -> Result<(), ClusterError> {
        for server in servers.all() {
            for statement in self.statements(servers, layout, features) {
                client.execute(&server.url, &statement)?;
            }
        }
        Ok(())
    }

    /// Returns the statements that drop all tables.
    pub(super) fn drops<'a>(&self, servers: &'a Servers) -> Vec<(&'a Server, String)> {
        let mut names = vec![&self.files, &self.dead, &self.journal];
        if servers.cluster.is_some() {
            names.splice(0..0, [&self.all_files, &self.all_journal]);
        }
        // The list of generations is read from the first server, so its tables have to be dropped
        // last.
        let servers = servers.all().iter().rev();
        let of_server =
            |server| names.iter().map(move |name| (server, format!("DROP TABLE IF EXISTS {name}")));
        servers.flat_map(of_server).collect()
    }
}

/// Partitioned by id range. A run's rows are in just a few partitions, so deletions don't have to
/// rewrite much, and reads starting at an id can skip earlier partitions.
const FILES_ENGINE: &str = "MergeTree PARTITION BY intDiv(id, 50000000) ORDER BY (bucket, id)";
const DEAD: &str = "batch UInt64, bucket UInt64, run UInt64, id UInt64";
const DEAD_ENGINE: &str = "MergeTree ORDER BY (batch, bucket, id)";
const JOURNAL: &str = "slot UInt8, version UInt64, purges UInt64, document String";
/// Merging keeps only the newest version of the row.
const JOURNAL_ENGINE: &str = "ReplacingMergeTree(version) ORDER BY slot";
