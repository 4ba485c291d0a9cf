//! Finds the servers that make up a cluster.

use reqwest::Url;

use super::client::Client;
use super::error::ClusterError;
use super::sql;
use super::target::is_name;

/// A server in the cluster.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Servers with the same shard number have the same rows.
    pub(super) shard: u32,
    pub(super) url: Url,
}

/// All servers in a cluster.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    /// The cluster's name in the ClickHouse configuration. `None` for a single server.
    pub(super) cluster: Option<String>,
    /// Ordered by shard and replica. Never empty.
    all: Vec<Server>,
}

impl Servers {
    /// Looks up the cluster members on the first server.
    pub(super) fn of(client: &Client, cluster: Option<&str>) -> Result<Self, ClusterError> {
        let Some(name) = cluster else {
            let all = vec![Server { shard: 1, url: client.target.base.clone() }];
            return Ok(Self { cluster: None, all });
        };
        check_name(name)?;
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
            return Err(ClusterError::Invalid(format!(
                "the servers are not configured for a cluster named {name}"
            )));
        }
        Ok(Self { cluster: Some(name.to_owned()), all })
    }

    pub(super) fn all(&self) -> &[Server] {
        &self.all
    }

    /// Returns the first replica of each shard. Together they contain every row exactly once.
    pub(super) fn one_of_each_shard(&self) -> Vec<&Server> {
        let mut chosen: Vec<&Server> = Vec::new();
        for server in &self.all {
            if chosen.last().is_none_or(|last| last.shard != server.shard) {
                chosen.push(server);
            }
        }
        chosen
    }

    /// Returns the servers that store the journal, i.e. all replicas of the first shard.
    pub(super) fn journal_servers(&self) -> impl Iterator<Item = &Server> {
        let shard = self.all.first().map(|server| server.shard);
        self.all.iter().filter(move |server| Some(server.shard) == shard)
    }

    /// Returns the `FROM` expression that reads a table (or a system table) on one server per
    /// shard.
    pub(super) fn across(&self, database: &str, table: &str) -> String {
        match &self.cluster {
            Some(name) => format!("cluster({}, {database}.{table})", sql::text(name)),
            None => format!("{database}.{table}"),
        }
    }
}

/// Checks that a cluster's name can be used in SQL.
pub(super) fn check_name(name: &str) -> Result<(), ClusterError> {
    let text = "CLUSTER_NAME must consist of letters, digits and _";
    is_name(name).then_some(()).ok_or_else(|| ClusterError::Invalid(text.to_owned()))
}
