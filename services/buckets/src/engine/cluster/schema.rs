//! The tables of a generation on every server.

use reqwest::Url;

use super::client::Client;
use super::error::ClusterError;
use super::features::Features;
use super::layout::Layout;
use super::sql;
use super::target::{Target, is_name};

/// A server of the cluster.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Servers with the same number hold the same rows.
    pub(super) shard: u32,
    pub(super) url: Url,
}

/// The servers of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    /// Name of the cluster in the servers' configuration; `None`: one server.
    pub(super) cluster: Option<String>,
    /// By shard, first replica first; never empty.
    all: Vec<Server>,
}

impl Servers {
    /// Asks the first server who belongs to the cluster.
    pub(super) fn of(client: &Client, cluster: Option<&str>) -> Result<Self, ClusterError> {
        let Some(name) = cluster else {
            let all = vec![Server { shard: 1, url: client.target.base.clone() }];
            return Ok(Self { cluster: None, all });
        };
        if !is_name(name) {
            return Err(ClusterError::Invalid(
                "CLUSTER_NAME must be of letters, digits and _".to_owned(),
            ));
        }
        let statement = format!(
            "SELECT shard_num, host_name FROM system.clusters WHERE cluster = {} \
             ORDER BY shard_num, replica_num FORMAT TSV",
            sql::text(name)
        );
        let answer = client.look_up(&client.target.base, &statement)?;
        let mut all = Vec::new();
        for line in String::from_utf8_lossy(&answer).lines() {
            let (shard, host) = line.split_once('\t').unwrap_or((line, ""));
            let shard = shard.parse().map_err(|_| ClusterError::Invalid("a shard".to_owned()))?;
            all.push(Server { shard, url: client.target.at_host(host)? });
        }
        if all.is_empty() {
            return Err(ClusterError::Invalid(format!("the servers know no cluster {name}")));
        }
        Ok(Self { cluster: Some(name.to_owned()), all })
    }

    pub(super) fn all(&self) -> &[Server] {
        &self.all
    }

    /// The first replica of every shard: together all rows, each once.
    pub(super) fn one_of_each_shard(&self) -> Vec<&Server> {
        let mut chosen: Vec<&Server> = Vec::new();
        for server in &self.all {
            if chosen.last().is_none_or(|last| last.shard != server.shard) {
                chosen.push(server);
            }
        }
        chosen
    }

    /// The servers that keep the journal.
    pub(super) fn journal_servers(&self) -> impl Iterator<Item = &Server> {
        let shard = self.all.first().map(|server| server.shard);
        self.all.iter().filter(move |server| Some(server.shard) == shard)
    }

    /// A table or system table on one server per shard, for a `FROM`.
    pub(super) fn across(&self, database: &str, table: &str) -> String {
        match &self.cluster {
            Some(name) => format!("cluster({}, {database}.{table})", sql::text(name)),
            None => format!("{database}.{table}"),
        }
    }
}

/// The tables of one generation.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) database: String,
    /// Rows of this server.
    pub(super) files: String,
    /// Rows that are to be deleted: pairs of bucket and run, or file ids.
    pub(super) dead: String,
    /// The journal of the index.
    pub(super) journal: String,
    /// Rows of all servers.
    pub(super) all_files: String,
    /// The journal, from every server.
    pub(super) all_journal: String,
}

impl Tables {
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

    /// A table's name without its database.
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

    /// Makes what is missing.
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

    /// Drops everything.
    pub(super) fn drop(&self, client: &Client, servers: &Servers) -> Result<(), ClusterError> {
        let mut names = vec![&self.files, &self.dead, &self.journal];
        if servers.cluster.is_some() {
            names.splice(0..0, [&self.all_files, &self.all_journal]);
        }
        // The first server is asked which generations there are, so it is the last one to forget.
        for server in servers.all().iter().rev() {
            for name in &names {
                client.execute(&server.url, &format!("DROP TABLE IF EXISTS {name}"))?;
            }
        }
        Ok(())
    }
}

/// Partitions are ranges of ids: a run touches few of them, so that a deletion rewrites little,
/// and reading on from an id skips what lies before.
const FILES_ENGINE: &str = "MergeTree PARTITION BY intDiv(id, 50000000) ORDER BY (bucket, id)";
const DEAD: &str = "batch UInt64, bucket UInt64, run UInt64, id UInt64";
const DEAD_ENGINE: &str = "MergeTree ORDER BY (batch, bucket, id)";
const JOURNAL: &str = "slot UInt8, version UInt64, purges UInt64, document String";
/// Merges keep the newest version of the one slot.
const JOURNAL_ENGINE: &str = "ReplacingMergeTree(version) ORDER BY slot";
