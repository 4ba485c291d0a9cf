//! The state that requests share: pools, clock, settings, the published snapshot, and slots for
//! expressions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use batch::PagePermits;
use database::Pools;
use domain::SharedClock;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Semaphore;

use crate::config::Settings;
use crate::engine::{FileIndex, Generations, IndexSummary};
use crate::model::address::Address;
use crate::model::counts::Counts;
use crate::model::package::{Capability, Package};
use crate::model::takedowns::Takedowns;
use crate::store::buckets::Bucket;

/// Maximum number of bytes of rows that have been found but not yet serialized. Their responses
/// take seven times as much memory.
const MEMORY_FOR_PAGES: u32 = 4 << 20;

/// The state of one server. Clones share it.
#[derive(Clone)]
pub struct State {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    clock: SharedClock,
    generations: Arc<dyn Generations>,
    settings: Settings,
    snapshot: ArcSwap<Snapshot>,
    slots: ExpressionSlots,
    /// Number of running downloads of each account that has any.
    downloads: Mutex<HashMap<String, usize>>,
    pages: PagePermits,
    /// The reason the index is unusable.
    fault: Mutex<Option<String>>,
    looking: Mutex<()>,
}

/// The regular-expression searches that are running or waiting.
pub struct ExpressionSlots {
    /// One permit per expression that may run.
    pub running: Arc<Semaphore>,
    /// The share of each account that runs expressions or waits.
    pub shares: Mutex<HashMap<String, Share>>,
}

/// The expression searches of one account.
pub struct Share {
    /// One permit per expression of the account that may run.
    pub running: Arc<Semaphore>,
    /// Number of the account's searches that are running or waiting.
    pub searches: usize,
    /// Number of the account's searches that are waiting for a permit.
    pub waiting: usize,
}

impl State {
    /// Creates a state that serves a snapshot.
    pub fn new(
        pools: Pools,
        clock: SharedClock,
        generations: Arc<dyn Generations>,
        settings: Settings,
        snapshot: Snapshot,
    ) -> Self {
        let running = Arc::new(Semaphore::new(settings.regexp_running.max(1)));
        let slots = ExpressionSlots { running, shares: Mutex::default() };
        let snapshot = ArcSwap::from_pointee(snapshot);
        let pages = PagePermits::new(MEMORY_FOR_PAGES);
        let inner = Inner {
            pools,
            clock,
            generations,
            settings,
            snapshot,
            slots,
            downloads: Mutex::default(),
            pages,
            fault: Mutex::default(),
            looking: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the database pools.
    pub fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    pub fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// Returns the generations of the index.
    pub fn generations(&self) -> &dyn Generations {
        &*self.inner.generations
    }

    /// Returns a shared handle to the generations of the index.
    pub fn shared_generations(&self) -> &Arc<dyn Generations> {
        &self.inner.generations
    }

    /// Returns the reason if the index is unusable.
    pub fn fault(&self) -> Option<String> {
        self.inner.fault.lock().clone()
    }

    /// Records the reason that the index is unusable; `None` if it is usable.
    pub fn set_fault(&self, fault: Option<String>) {
        *self.inner.fault.lock() = fault;
    }

    /// Waits until no other thread is looking for a newer snapshot. Only the holder of the guard
    /// may publish. Otherwise a check that started earlier but ended later would bring back files
    /// that were removed in the meantime.
    pub fn look(&self) -> MutexGuard<'_, ()> {
        self.inner.looking.lock()
    }

    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot.load_full()
    }

    /// Replaces the snapshot.
    pub fn publish(&self, snapshot: Snapshot) {
        self.inner.snapshot.store(Arc::new(snapshot));
    }

    /// Returns the memory permits for pages that have been found but not yet written.
    pub fn pages(&self) -> &PagePermits {
        &self.inner.pages
    }

    /// Returns the number of running downloads per account.
    pub fn downloads(&self) -> &Mutex<HashMap<String, usize>> {
        &self.inner.downloads
    }

    /// Returns the expression slots.
    pub fn slots(&self) -> &ExpressionSlots {
        &self.inner.slots
    }
}

/// Buckets, packages and index that belong together. Requests read a snapshot without querying the
/// database. It is loaded and replaced as a whole.
#[derive(Clone)]
pub struct Snapshot {
    pub index: Arc<dyn FileIndex>,
    /// State of the index at the time when the snapshot was read.
    pub summary: Arc<IndexSummary>,
    /// Generation of the index.
    pub generation: u32,
    /// Version of the SQL rows in the snapshot.
    pub version: i64,
    /// Packages, cheapest first.
    pub packages: Vec<Package>,
    /// Files that are hidden until their data is erased.
    pub takedowns: Takedowns,
    /// Number of hidden files by bucket, for buckets that are not hidden as a whole.
    pub hidden: BTreeMap<u64, u64>,
    /// Buckets by ascending id.
    buckets: Arc<Vec<Bucket>>,
    /// Positions in `buckets`, by address.
    by_address: Arc<HashMap<String, usize>>,
}

impl Snapshot {
    /// Creates a snapshot. The buckets must be in ascending order of their ids.
    pub fn new(
        index: Arc<dyn FileIndex>,
        summary: Arc<IndexSummary>,
        (generation, version): (u32, i64),
        packages: Vec<Package>,
        buckets: Vec<Bucket>,
        takedowns: Takedowns,
    ) -> Self {
        let addresses = buckets.iter().enumerate();
        let by_address = addresses.map(|(at, bucket)| (bucket.address.clone(), at)).collect();
        let (buckets, by_address) = (Arc::new(buckets), Arc::new(by_address));
        let hidden = BTreeMap::new();
        Self {
            index,
            summary,
            generation,
            version,
            packages,
            takedowns,
            hidden,
            buckets,
            by_address,
        }
    }

    /// Returns a bucket by its id.
    pub fn bucket(&self, id: u64) -> Option<&Bucket> {
        let at = self.buckets.binary_search_by_key(&id, |bucket| bucket.id).ok()?;
        self.buckets.get(at)
    }

    /// Resolves the items of a bucket filter to ids, in ascending order. Unknown items are ignored.
    pub fn bucket_ids(&self, parts: &[String]) -> Vec<u64> {
        let mut ids: Vec<u64> = parts.iter().filter_map(|part| self.bucket_id(part)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn bucket_id(&self, part: &str) -> Option<u64> {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            return part.parse().ok();
        }
        let address = Address::parse(part).ok()?;
        self.by_address.get(address.as_str()).map(|&at| self.buckets[at].id)
    }

    /// Returns the listed buckets in ascending order of id. With `since`, only those first indexed
    /// up to that time.
    pub fn listed(&self, since: Option<i64>) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().filter(move |bucket| {
            let first = bucket.first_indexed;
            first.is_some_and(|first| since.is_none_or(|since| first <= since))
                && !self.takedowns.hides_bucket(bucket.id)
        })
    }

    /// Returns the ids of buckets first indexed after `since`, in ascending order.
    pub fn indexed_after(&self, since: i64) -> Vec<u64> {
        let later = |bucket: &&Bucket| bucket.first_indexed.is_none_or(|first| first > since);
        self.buckets.iter().filter(later).map(|bucket| bucket.id).collect()
    }

    /// Returns the number of files in a bucket.
    pub fn file_count(&self, id: u64) -> u64 {
        let hidden = self.hidden.get(&id).copied().unwrap_or(0);
        self.summary.counts.get(&id).copied().unwrap_or(0).saturating_sub(hidden)
    }

    /// Counts the listed buckets and their files. With `since`, only buckets first indexed up to
    /// that time.
    pub fn counts(&self, since: Option<i64>) -> Counts {
        let mut counts = Counts::default();
        for bucket in self.listed(since) {
            counts.files += self.file_count(bucket.id);
            counts.buckets[bucket.kind as usize] += 1;
        }
        counts
    }

    /// Returns the time of the last publish, or 0 if there was none.
    pub fn published_at(&self) -> i64 {
        self.summary.journal.published.as_ref().map_or(0, |published| published.at)
    }

    /// Returns the package of a plan. Keys without a plan get the cheapest package.
    pub fn package(&self, plan: Option<&str>) -> Package {
        let named = self.packages.iter().find(|package| Some(package.code.as_str()) == plan);
        let [free, ..] = Package::seeds();
        named.or(self.packages.first()).cloned().unwrap_or(free)
    }

    /// Returns the cheapest package that has a capability, if there is one.
    pub fn cheapest_with(&self, capability: Capability) -> Option<&Package> {
        self.packages.iter().find(|package| package.allows(capability))
    }
}
