//! The service's state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use arc_swap::ArcSwapOption;
use arc_swap::cache::Cache;
use domain::{Clock, HashPrefix, SystemClock};
use tokio::sync::watch;

use crate::config::Settings;
use crate::model::Kind;
use crate::store::Corpus;

/// Indicates that no bucket is failing. Never a valid prefix.
const NONE_FAILING: u32 = u32::MAX;

/// A loaded corpus. It is always replaced as a whole.
pub struct Snapshot {
    corpus: Corpus,
    built_at: i64,
}

impl From<Corpus> for Snapshot {
    fn from(corpus: Corpus) -> Self {
        // `Last-Modified` must not be in the future (RFC 9110, section 8.8.2.1).
        let now = SystemClock.unix().max(0);
        let built_at = corpus.header().built_at.clamp(0, now);
        Self { corpus, built_at }
    }
}

impl Snapshot {
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Returns the build time in Unix seconds, or the time of loading if that was earlier.
    pub fn built_at(&self) -> i64 {
        self.built_at
    }
}

/// A worker's cached view of the snapshot for one kind. As long as the snapshot isn't replaced, a
/// read costs one atomic load and doesn't touch a reference count.
pub type SnapshotReader = Cache<Arc<ArcSwapOption<Snapshot>>, Option<Arc<Snapshot>>>;

/// State shared by all workers.
pub struct State {
    settings: Settings,
    snapshots: [Arc<ArcSwapOption<Snapshot>>; 2],
    /// For each kind, the prefix of a bucket that couldn't be served, or [`NONE_FAILING`].
    failing: [AtomicU32; 2],
    /// For each kind, whether the activated corpus couldn't be loaded.
    unusable: [AtomicBool; 2],
    /// Notifies workers when a corpus is replaced.
    exchanges: watch::Sender<()>,
}

impl State {
    /// Creates a state without any corpora.
    pub fn new(settings: Settings) -> Self {
        let failing = [const { AtomicU32::new(NONE_FAILING) }; 2];
        let exchanges = watch::Sender::new(());
        Self {
            settings,
            snapshots: Default::default(),
            failing,
            unusable: Default::default(),
            exchanges,
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the corpus in use for `kind`, if any.
    pub fn snapshot(&self, kind: Kind) -> Option<Arc<Snapshot>> {
        self.snapshots[kind.position()].load_full()
    }

    /// Returns a cached view of the corpus for `kind`, for workers that read it repeatedly.
    pub fn reader(&self, kind: Kind) -> SnapshotReader {
        Cache::new(self.snapshots[kind.position()].clone())
    }

    /// Replaces the corpus. Requests in progress finish with the old one.
    pub fn replace(&self, corpus: Corpus) {
        let kind = corpus.kind();
        self.snapshots[kind.position()].store(Some(Arc::new(corpus.into())));
        self.failing[kind.position()].store(NONE_FAILING, Ordering::Relaxed);
        self.set_unusable(kind, false);
        self.exchanges.send_replace(());
    }

    /// Returns a receiver that is notified whenever a corpus is replaced.
    pub fn exchanges(&self) -> watch::Receiver<()> {
        self.exchanges.subscribe()
    }

    /// Returns whether the activated corpus of `kind` couldn't be loaded. An earlier one may still
    /// be in use.
    pub fn is_unusable(&self, kind: Kind) -> bool {
        self.unusable[kind.position()].load(Ordering::Relaxed)
    }

    /// Sets whether the activated corpus of `kind` couldn't be loaded.
    pub fn set_unusable(&self, kind: Kind, unusable: bool) {
        self.unusable[kind.position()].store(unusable, Ordering::Relaxed);
    }

    /// Returns the prefix of a bucket that couldn't be served, if any.
    pub fn failing(&self, kind: Kind) -> Option<HashPrefix> {
        HashPrefix::from_value(self.failing[kind.position()].load(Ordering::Relaxed))
    }

    /// Records the prefix of a bucket that couldn't be served.
    pub fn set_failing(&self, kind: Kind, prefix: HashPrefix) {
        self.failing[kind.position()].store(prefix.value(), Ordering::Relaxed);
    }

    /// Records that the bucket for `prefix` can be read again. Does nothing if a request has since
    /// recorded that another bucket failed.
    pub fn clear_failing(&self, kind: Kind, prefix: HashPrefix) {
        let failing = &self.failing[kind.position()];
        let _ = failing.compare_exchange(
            prefix.value(),
            NONE_FAILING,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{CorpusWriter, KindFolder};

    #[test]
    fn build_time_in_the_future_becomes_the_time_of_loading() {
        let data = tempfile::tempdir().unwrap();
        let folder = KindFolder::new(data.path(), Kind::Sha1);
        let lock = folder.lock().unwrap();
        let writer = CorpusWriter::create(&folder, &lock).unwrap();
        let (path, _) = writer.complete("", i64::MAX).unwrap().name().unwrap();
        let before = SystemClock.unix();
        let snapshot = Snapshot::from(Corpus::open(&path, 0).unwrap());
        assert!((before..=SystemClock.unix()).contains(&snapshot.built_at()));
    }

    #[test]
    fn recovered_bucket_does_not_hide_the_failure_of_another() {
        let state = State::new(Settings::default());
        let [first, second] = [1, 2].map(|value| HashPrefix::from_value(value).unwrap());
        state.set_failing(Kind::Sha1, first);
        // While the first bucket is being rechecked, a request finds that the second one is
        // damaged.
        state.set_failing(Kind::Sha1, second);
        state.clear_failing(Kind::Sha1, first);
        assert_eq!(state.failing(Kind::Sha1), Some(second));
        state.clear_failing(Kind::Sha1, second);
        assert_eq!(state.failing(Kind::Sha1), None);
    }
}
