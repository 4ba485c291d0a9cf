//! State shared by all requests: database pools, clock, settings, the current snapshot and the
//! expression slots.

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

/// Memory limit for rows that have been found but not serialised yet, in bytes. A response takes up
/// seven times as much memory.
const MEMORY_FOR_PAGES: u32 = 4 << 20;

/// Memory limit for the sort keys of deep pages, in bytes. The deepest possible page takes up a
/// quarter of it.
const MEMORY_FOR_KEYS: u32 = 128 << 20;

/// A server's state. Cheap to clone.
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
    /// Number of downloads in progress, by account. Accounts without downloads are omitted.
    downloads: Mutex<HashMap<String, usize>>,
    pages: PagePermits,
    keys: PagePermits,
    /// Describes why the index is unusable, if it is.
    fault: Mutex<Option<String>>,
    looking: Mutex<()>,
}

/// Keeps track of regular expressions that are running or waiting.
pub struct ExpressionSlots {
    /// One permit per expression that can run at the same time.
    pub running: Arc<Semaphore>,
    /// Shares of all accounts with running or waiting searches.
    pub shares: Mutex<HashMap<String, Share>>,
}

/// An account's share of the slots.
pub struct Share {
    /// One permit per expression that the account can run at the same time.
    pub running: Arc<Semaphore>,
    /// Number of searches, running or waiting.
    pub searches: usize,
    /// Number of waiting searches.
    pub waiting: usize,
}

impl State {
    /// Creates a state with a first snapshot.
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
        let keys = PagePermits::new(MEMORY_FOR_KEYS);
        let inner = Inner {
            pools,
            clock,
            generations,
            settings,
            snapshot,
            slots,
            downloads: Mutex::default(),
            pages,
            keys,
            fault: Mutex::default(),
            looking: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The database pools.
    pub fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    pub fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// The index generations.
    pub fn generations(&self) -> &dyn Generations {
        &*self.inner.generations
    }

    /// Like [`Self::generations`], but returns a shared handle.
    pub fn shared_generations(&self) -> &Arc<dyn Generations> {
        &self.inner.generations
    }

    /// Returns why the index is unusable, if it is.
    pub fn fault(&self) -> Option<String> {
        self.inner.fault.lock().clone()
    }

    /// Records why the index is unusable, or `None` if it is usable.
    pub fn set_fault(&self, fault: Option<String>) {
        *self.inner.fault.lock() = fault;
    }

    /// Waits for other threads that are looking for a newer snapshot. Keep the guard while
    /// publishing a snapshot. Otherwise, a slow check that started earlier could bring back files
    /// that have since been removed.
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

    /// Memory permits for pages that have been found but not written yet.
    pub fn pages(&self) -> &PagePermits {
        &self.inner.pages
    }

    /// Memory permits for the sort keys of deep pages.
    pub fn keys(&self) -> &PagePermits {
        &self.inner.keys
    }

    /// Number of downloads in progress, by account.
    pub fn downloads(&self) -> &Mutex<HashMap<String, usize>> {
        &self.inner.downloads
    }

    /// The expression slots.
    pub fn slots(&self) -> &ExpressionSlots {
        &self.inner.slots
    }
}

/// The index together with the matching buckets and packages, so that most requests don't need the
/// database. Always loaded and replaced as a whole.
#[derive(Clone)]
pub struct Snapshot {
    pub index: Arc<dyn FileIndex>,
    /// Index state when the snapshot was taken.
    pub summary: Arc<IndexSummary>,
    /// Index generation.
    pub generation: u32,
    /// Version of the SQL rows.
    pub version: i64,
    /// All packages, cheapest first.
    pub packages: Vec<Package>,
    /// Files that are hidden until their data is erased.
    pub takedowns: Takedowns,
    /// Number of hidden files, for buckets that are only partly hidden.
    pub hidden: BTreeMap<u64, u64>,
    /// Snapshots that are read later have higher numbers.
    pub number: u64,
    /// Number of the snapshot in which the `hidden` files were counted.
    pub counted: u64,
    /// Number of visible files and buckets. Counted before the snapshot is published, so that
    /// requests don't have to.
    pub totals: Counts,
    /// All buckets, ordered by id.
    buckets: Arc<Vec<Bucket>>,
    /// Indexes into `buckets`, by address.
    by_address: Arc<HashMap<String, usize>>,
}

impl Snapshot {
    /// Creates a snapshot. `buckets` must be ordered by id.
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
        let (hidden, totals) = (BTreeMap::new(), Counts::default());
        Self {
            index,
            summary,
            generation,
            version,
            packages,
            takedowns,
            hidden,
            number: 0,
            counted: 0,
            totals,
            buckets,
            by_address,
        }
    }

    /// Looks up a bucket by id.
    pub fn bucket(&self, id: u64) -> Option<&Bucket> {
        let at = self.buckets.binary_search_by_key(&id, |bucket| bucket.id).ok()?;
        self.buckets.get(at)
    }

    /// Looks up a bucket by address.
    pub fn bucket_at(&self, address: &str) -> Option<&Bucket> {
        self.by_address.get(address).map(|&at| &self.buckets[at])
    }

    /// Resolves the items of a bucket filter to sorted ids. Unknown items are ignored.
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
        self.bucket_at(address.as_str()).map(|bucket| bucket.id)
    }

    /// Returns the time at which a bucket was hidden because its provider kept refusing access.
    pub fn hidden_since(&self, address: &str) -> Option<i64> {
        let at = *self.by_address.get(address)?;
        self.buckets.get(at)?.hidden_at
    }

    /// Returns the listed buckets in ascending id order, leaving out buckets hidden by a takedown.
    /// With `since`, only returns buckets first indexed by that time.
    pub fn listed(&self, since: Option<i64>) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().filter(move |bucket| {
            let first = bucket.first_indexed;
            first.is_some_and(|first| since.is_none_or(|since| first <= since))
                && !self.takedowns.hides_bucket(bucket.id)
        })
    }

    /// Returns the ids of all buckets that were first indexed after `since` or aren't listed, in
    /// ascending order.
    pub fn indexed_after(&self, since: i64) -> Vec<u64> {
        let later = |bucket: &&Bucket| bucket.first_indexed.is_none_or(|first| first > since);
        self.buckets.iter().filter(later).map(|bucket| bucket.id).collect()
    }

    /// Returns the ids of the buckets that were first indexed after `since` and by `until`, in
    /// ascending order.
    pub fn indexed_between(&self, since: i64, until: i64) -> Vec<u64> {
        let is_between =
            |bucket: &&Bucket| bucket.first_indexed.is_some_and(|at| at > since && at <= until);
        self.buckets.iter().filter(is_between).map(|bucket| bucket.id).collect()
    }

    /// Returns the number of visible files in a bucket.
    pub fn file_count(&self, id: u64) -> u64 {
        let hidden = self.hidden.get(&id).copied().unwrap_or(0);
        self.summary.counts.get(&id).copied().unwrap_or(0).saturating_sub(hidden)
    }

    /// Counts the listed buckets and their files. With `since`, only counts buckets first indexed
    /// by that time. This visits every bucket.
    pub fn counts(&self, since: Option<i64>) -> Counts {
        let mut counts = Counts::default();
        for bucket in self.listed(since) {
            counts.files += self.file_count(bucket.id);
            counts.buckets[bucket.kind as usize] += 1;
        }
        counts
    }

    /// Returns the time of the last publish, or 0 if there hasn't been one.
    pub fn published_at(&self) -> i64 {
        self.summary.journal.published.as_ref().map_or(0, |published| published.at)
    }

    /// Returns the package for a plan. Keys without a plan get the cheapest package.
    pub fn package(&self, plan: Option<&str>) -> Package {
        let named = self.packages.iter().find(|package| Some(package.code.as_str()) == plan);
        let [free, ..] = Package::seeds();
        named.or(self.packages.first()).cloned().unwrap_or(free)
    }

    /// Returns the cheapest offered package with a capability, if any.
    pub fn cheapest_with(&self, capability: Capability) -> Option<&Package> {
        self.packages.iter().find(|package| !package.hidden && package.allows(capability))
    }
}
