//! Connects to a cluster and manages its generations.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::client::Client;
use super::features::Features;
use super::generation::Generation;
use super::index::ClusterIndex;
use super::layout::Layout;
use super::lease::{self, Lease};
use super::schema::Tables;
use super::servers::{Servers, check_name};
use super::target::Target;
use super::view::View;
use crate::engine::error::EngineError;
use crate::engine::write_lock::HeldLock;

/// A connection to a cluster.
#[derive(Clone)]
pub struct Cluster {
    client: Arc<Client>,
    servers: Servers,
}

/// The cluster-wide write lock. Released on drop.
pub struct ClusterLock {
    lease: Lease,
}

impl HeldLock for ClusterLock {
    fn check(&self) -> Result<(), EngineError> {
        Ok(self.lease.check()?)
    }
}

impl Cluster {
    /// Checks `CLUSTER_URL` and `CLUSTER_NAME` without connecting. The error is meant for the
    /// operator and doesn't contain credentials.
    pub fn check_settings(url: &str, name: Option<&str>) -> Result<(), String> {
        let checked = Target::parse(url).and_then(|_| name.map_or(Ok(()), check_name));
        checked.map_err(|error| error.to_string())
    }

    /// Connects to `CLUSTER_URL` and looks up the servers in `CLUSTER_NAME`.
    pub fn connect(url: &str, name: Option<&str>) -> Result<Self, EngineError> {
        let client = Arc::new(Client::new(Target::parse(url)?)?);
        let servers = Servers::of(&client, name)?;
        Ok(Self { client, servers })
    }

    /// Opens a generation.
    pub fn open(&self, generation: u32) -> Result<ClusterIndex, EngineError> {
        let tables = Tables::of(generation, &self.client.target, &self.servers);
        let view = View::read(&self.client, &self.servers, &tables)?;
        let missing = || EngineError::Missing(format!("generation {generation}"));
        let view = view.ok_or_else(missing)?;
        let layout = tables.layout(&self.client)?.ok_or_else(missing)?;
        let (client, servers) = (Arc::clone(&self.client), self.servers.clone());
        let number = generation;
        Ok(ClusterIndex::new(Generation { client, servers, tables, number, layout }, view))
    }

    /// Opens a generation, creating an empty one if it doesn't exist. Opening an existing
    /// generation works even if a replica is down.
    pub fn open_or_create(&self, generation: u32) -> Result<ClusterIndex, EngineError> {
        match self.open(generation) {
            Err(EngineError::Missing(_)) => {}
            opened => return opened,
        }
        let tables = Tables::of(generation, &self.client.target, &self.servers);
        let features = Features::of(&self.client, &self.servers)?;
        tables.create(&self.client, &self.servers, Layout::best(features), features)?;
        self.open(generation)
    }

    /// Drops a generation and all its rows. Requires the write lock.
    pub fn remove(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        let tables = Tables::of(generation, &self.client.target, &self.servers);
        for (server, statement) in tables.drops(&self.servers) {
            lock.check()?;
            self.client.execute(&server.url, &statement)?;
        }
        Ok(lease::forget(&self.client, &lease::of_generation(generation))?)
    }

    /// Lists all generations, including unfinished ones.
    pub fn generations(&self) -> Result<BTreeSet<u32>, EngineError> {
        let names = self.client.table_names(&self.client.target.base, "buckets_")?;
        // Dropping a generation isn't atomic, so some of its tables might be missing.
        let number = |name: &str| -> Option<u32> {
            let kinds = ["buckets_files_", "buckets_dead_", "buckets_journal_"];
            kinds.iter().find_map(|kind| name.strip_prefix(kind))?.parse().ok()
        };
        Ok(names.iter().filter_map(|name| number(name)).collect())
    }

    /// Takes the cluster-wide write lock. If another process has it, the error contains that
    /// process's own description.
    pub fn lock(&self, holder: &str) -> Result<ClusterLock, EngineError> {
        Ok(ClusterLock { lease: Lease::take(&self.client, "lock", holder)? })
    }
}
