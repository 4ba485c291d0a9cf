//! The cluster engine: ClickHouse over its HTTP interface, for an index that outgrows a machine.
//!
//! A generation is three tables on every server. Rows of files are sharded by bucket; a journal of
//! one row says which of them are visible, and inserting its next version is the atomic step of
//! every publish. Rows that a publish replaces are named in the table of dead rows, which every
//! search leaves out until the servers have deleted them. A deletion may begin while a search still
//! works on an older state, so a search asks at its end whether one did, and is then repeated.
//!
//! Every server must answer HTTP at the port of `CLUSTER_URL` under the name that the cluster's
//! configuration gives it, to the same user.

mod filter;
mod journal;
mod lease;
mod link;
mod pattern;
mod refusal;
mod rows;
mod schema;
mod search;
mod sql;
mod target;
mod verify;
mod view;
mod writer;

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use super::{EngineError, FileIndex, FileWriter, Limits, Snapshot};
use crate::model::file_query::{FileQuery, Found};
use lease::Lease;
use link::{ClusterError, Link};
use schema::{Servers, Tables};
use target::Target;
use view::View;

/// Times that a search is repeated because rows of its state were deleted.
const ATTEMPTS: usize = 5;

/// The servers, without a generation.
#[derive(Clone)]
pub struct Cluster {
    link: Arc<Link>,
    servers: Servers,
}

/// The right to write, until it is dropped.
pub struct ClusterLock {
    _lease: Lease,
}

impl Cluster {
    /// Connects to the server of `CLUSTER_URL` and learns who belongs to `CLUSTER_NAME`.
    pub fn connect(url: &str, name: Option<&str>) -> Result<Self, EngineError> {
        let link = Arc::new(Link::new(Target::parse(url)?)?);
        let servers = Servers::of(&link, name)?;
        Ok(Self { link, servers })
    }

    /// Opens a generation.
    pub fn open(&self, generation: u32) -> Result<ClusterIndex, EngineError> {
        let tables = Tables::of(generation, &self.link.target, &self.servers);
        let view = View::read(&self.link, &self.servers, &tables)?;
        let view = view.ok_or_else(|| EngineError::Missing(format!("generation {generation}")))?;
        Ok(ClusterIndex {
            link: Arc::clone(&self.link),
            servers: self.servers.clone(),
            tables,
            generation,
            view: RwLock::new(Arc::new(view)),
        })
    }

    /// Opens a generation, or makes an empty one; what is there is opened even while a replica is
    /// away.
    pub fn open_or_create(&self, generation: u32) -> Result<ClusterIndex, EngineError> {
        match self.open(generation) {
            Err(EngineError::Missing(_)) => {}
            opened => return opened,
        }
        let tables = Tables::of(generation, &self.link.target, &self.servers);
        tables.create(&self.link, &self.servers)?;
        self.open(generation)
    }

    /// Drops a generation with all its rows.
    pub fn remove(&self, generation: u32) -> Result<(), EngineError> {
        let tables = Tables::of(generation, &self.link.target, &self.servers);
        Ok(tables.drop(&self.link, &self.servers)?)
    }

    /// The generations that are there, those that were never finished included.
    pub fn generations(&self) -> Result<BTreeSet<u32>, EngineError> {
        let statement = format!(
            "SELECT name FROM system.tables WHERE database = {} FORMAT TSV",
            sql::text(&self.link.target.database)
        );
        let answer = self.link.ask(&self.link.target.base, &statement)?;
        let names = String::from_utf8_lossy(&answer).into_owned();
        let numbers = names.lines().filter_map(|name| name.strip_prefix("buckets_files_"));
        Ok(numbers.filter_map(|number| number.parse().ok()).collect())
    }

    /// Takes the one right to write to the cluster, or fails with what its holder said about
    /// itself.
    pub fn lock(&self, holder: &str) -> Result<ClusterLock, EngineError> {
        Ok(ClusterLock { _lease: Lease::take(&self.link, "lock", holder)? })
    }
}

/// One generation of the index in a cluster.
pub struct ClusterIndex {
    link: Arc<Link>,
    servers: Servers,
    tables: Tables,
    generation: u32,
    view: RwLock<Arc<View>>,
}

impl ClusterIndex {
    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the newest state; false when it is the one that is known.
    fn reload(&self) -> Result<bool, ClusterError> {
        let seen = self.view();
        let missing = || ClusterError::Wrong("the tables are gone".to_owned());
        if journal::mark(&self.link, &self.tables, None)?.0 == seen.record.version {
            return Ok(false);
        }
        let view = View::read(&self.link, &self.servers, &self.tables)?.ok_or_else(missing)?;
        let changed = view.record.journal.sequence != seen.record.journal.sequence;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        Ok(changed)
    }
}

impl FileIndex for ClusterIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        for _ in 0..ATTEMPTS {
            limits.check()?;
            let view = self.view();
            let found = search::answer(self, &view, query, limits)?;
            let (_, purges) = journal::mark(&self.link, &self.tables, Some(limits))?;
            if purges == view.record.purges {
                return Ok(found);
            }
            self.reload()?;
        }
        Err(EngineError::Broken("files are being deleted too fast to be searched".to_owned()))
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.view().snapshot)
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        Ok(self.reload()?)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.reload()?;
        Ok(verify::faults(self, &self.view())?)
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        Ok(Box::new(writer::ClusterWriter::open(self, memory_mb)?))
    }
}
