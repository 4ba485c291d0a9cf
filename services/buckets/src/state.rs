//! What requests share: pools, clock, settings, the published snapshot, the slots of expressions.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use batch::PagePermits;
use database::Pools;
use domain::SharedClock;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::config::Settings;
use crate::engine::{FileIndex, Generations, IndexSummary};
use crate::model::address::Address;
use crate::model::counts::Counts;
use crate::model::package::{Capability, Package};
use crate::store::buckets::Bucket;

/// Bytes of rows that are found and not yet written as answers, which take seven times as much.
const MEMORY_FOR_PAGES: u32 = 4 << 20;

/// The state of one server; a clone is another handle to it.
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
    pages: PagePermits,
    /// Why the index cannot be used.
    fault: Mutex<Option<String>>,
}

/// How many expressions run and wait.
pub struct ExpressionSlots {
    /// A permit for each expression that may run.
    pub running: Arc<Semaphore>,
    /// What accounts with such searches have of it.
    pub shares: Mutex<HashMap<String, Share>>,
}

/// The expressions of one account.
pub struct Share {
    /// A permit for each expression of the account that may run.
    pub running: Arc<Semaphore>,
    /// Searches of the account that run or wait.
    pub searches: usize,
    /// Searches of the account that wait for a permit.
    pub waiting: usize,
}

impl State {
    /// A state that serves a snapshot.
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
        let fault = Mutex::default();
        let inner = Inner { pools, clock, generations, settings, snapshot, slots, pages, fault };
        Self { inner: Arc::new(inner) }
    }

    /// The database.
    pub fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// Where the generations of the index are.
    pub fn generations(&self) -> &dyn Generations {
        &*self.inner.generations
    }

    /// The same, to be shared.
    pub fn shared_generations(&self) -> &Arc<dyn Generations> {
        &self.inner.generations
    }

    /// Why the index cannot be used, if it cannot.
    pub fn fault(&self) -> Option<String> {
        self.inner.fault.lock().clone()
    }

    /// Notes whether the index can be used.
    pub fn set_fault(&self, fault: Option<String>) {
        *self.inner.fault.lock() = fault;
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The snapshot as it is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot.load_full()
    }

    /// Serves another snapshot from now on.
    pub fn publish(&self, snapshot: Snapshot) {
        self.inner.snapshot.store(Arc::new(snapshot));
    }

    /// The memory for pages that are found and not yet written.
    pub fn pages(&self) -> &PagePermits {
        &self.inner.pages
    }

    /// The slots of expressions.
    pub fn slots(&self) -> &ExpressionSlots {
        &self.inner.slots
    }
}

/// Buckets, packages and the index that belong together; what requests read without asking the
/// database. Loaded whole and swapped.
pub struct Snapshot {
    /// The index.
    pub index: Arc<dyn FileIndex>,
    /// Its state when the snapshot was read.
    pub summary: Arc<IndexSummary>,
    /// Generation of the index.
    pub generation: u32,
    /// Version of the SQL rows.
    pub version: i64,
    /// Packages, cheapest first.
    pub packages: Vec<Package>,
    /// Buckets by ascending id.
    buckets: Arc<Vec<Bucket>>,
    /// Positions in `buckets`.
    by_address: Arc<HashMap<String, usize>>,
}

impl Snapshot {
    /// A snapshot of buckets by ascending id.
    pub fn new(
        index: Arc<dyn FileIndex>,
        summary: Arc<IndexSummary>,
        (generation, version): (u32, i64),
        packages: Vec<Package>,
        buckets: Vec<Bucket>,
    ) -> Self {
        let addresses = buckets.iter().enumerate();
        let by_address = addresses.map(|(at, bucket)| (bucket.address.clone(), at)).collect();
        let (buckets, by_address) = (Arc::new(buckets), Arc::new(by_address));
        Self { index, summary, generation, version, packages, buckets, by_address }
    }

    /// The same buckets with other packages.
    pub fn with_packages(&self, packages: Vec<Package>) -> Self {
        Self {
            index: Arc::clone(&self.index),
            summary: Arc::clone(&self.summary),
            generation: self.generation,
            version: self.version,
            packages,
            buckets: Arc::clone(&self.buckets),
            by_address: Arc::clone(&self.by_address),
        }
    }

    /// A bucket by its id.
    pub fn bucket(&self, id: u64) -> Option<&Bucket> {
        let at = self.buckets.binary_search_by_key(&id, |bucket| bucket.id).ok()?;
        self.buckets.get(at)
    }

    /// The ids behind the parts of a bucket filter, ascending; unknown parts give none.
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

    /// Listed buckets by ascending id; with `since`, those first indexed by then.
    pub fn listed(&self, since: Option<i64>) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().filter(move |bucket| {
            let first = bucket.first_indexed;
            first.is_some_and(|first| since.is_none_or(|since| first <= since))
        })
    }

    /// Ids of the buckets first indexed after `since`, ascending.
    pub fn indexed_after(&self, since: i64) -> Vec<u64> {
        let later = |bucket: &&Bucket| bucket.first_indexed.is_none_or(|first| first > since);
        self.buckets.iter().filter(later).map(|bucket| bucket.id).collect()
    }

    /// Files of a bucket.
    pub fn file_count(&self, id: u64) -> u64 {
        self.summary.counts.get(&id).copied().unwrap_or(0)
    }

    /// Numbers over listed buckets; with `since`, those first indexed by then.
    pub fn counts(&self, since: Option<i64>) -> Counts {
        let mut counts = Counts::default();
        for bucket in self.listed(since) {
            counts.files += self.file_count(bucket.id);
            counts.buckets[bucket.kind as usize] += 1;
        }
        counts
    }

    /// When the index was last published; 0: never.
    pub fn published_at(&self) -> i64 {
        self.summary.journal.published.as_ref().map_or(0, |published| published.at)
    }

    /// The package of a plan; a key without a plan has the cheapest.
    pub fn package(&self, plan: Option<&str>) -> Package {
        let named = self.packages.iter().find(|package| Some(package.code.as_str()) == plan);
        let [free, ..] = Package::seeds();
        named.or(self.packages.first()).cloned().unwrap_or(free)
    }

    /// The cheapest package with a capability.
    pub fn cheapest_with(&self, capability: Capability) -> Option<&Package> {
        self.packages.iter().find(|package| package.allows(capability))
    }
}
