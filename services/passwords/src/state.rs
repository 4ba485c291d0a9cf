//! What the service serves from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arc_swap::ArcSwapOption;
use arc_swap::cache::Cache;
use domain::HashPrefix;
use tokio::sync::watch;

use crate::config::Settings;
use crate::model::Kind;
use crate::store::Corpus;

/// The last second that an HTTP date can name, the end of the year 9999.
const LAST_SECOND: i64 = 253_402_300_799;
/// No prefix has this value.
const NONE_FAILING: u32 = u32::MAX;

/// A corpus in use: loaded whole, swapped whole.
pub struct Snapshot {
    corpus: Corpus,
    built_at: i64,
}

impl From<Corpus> for Snapshot {
    fn from(corpus: Corpus) -> Self {
        let built_at = corpus.header().built_at.clamp(0, LAST_SECOND);
        Self { corpus, built_at }
    }
}

impl Snapshot {
    /// The corpus.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// When it was built, in Unix seconds within what HTTP can say.
    pub fn built_at(&self) -> i64 {
        self.built_at
    }
}

/// A worker's own clone of the snapshot of one kind: as long as it is not swapped, reading it costs
/// one atomic load and no reference is counted.
pub type SnapshotReader = Cache<Arc<ArcSwapOption<Snapshot>>, Option<Arc<Snapshot>>>;

/// What all workers share.
pub struct State {
    settings: Settings,
    snapshots: [Arc<ArcSwapOption<Snapshot>>; 2],
    /// For each kind the prefix whose bucket could not be served, or [`NONE_FAILING`].
    failing: [AtomicU32; 2],
    /// Tells the workers that a corpus was put in place.
    exchanges: watch::Sender<()>,
}

impl State {
    /// A state without a corpus.
    pub fn new(settings: Settings) -> Self {
        let failing = [const { AtomicU32::new(NONE_FAILING) }; 2];
        let exchanges = watch::Sender::new(());
        Self { settings, snapshots: Default::default(), failing, exchanges }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The corpus in use of a kind.
    pub fn snapshot(&self, kind: Kind) -> Option<Arc<Snapshot>> {
        self.snapshots[kind.position()].load_full()
    }

    /// The corpus in use of a kind, for a worker that reads it again and again.
    pub fn reader(&self, kind: Kind) -> SnapshotReader {
        Cache::new(self.snapshots[kind.position()].clone())
    }

    /// Puts a corpus in place. Requests under way finish with the old one.
    pub fn replace(&self, corpus: Corpus) {
        let kind = corpus.kind();
        self.snapshots[kind.position()].store(Some(Arc::new(corpus.into())));
        self.set_failing(kind, None);
        self.exchanges.send_replace(());
    }

    /// Changes whenever a corpus is put in place from now on.
    pub fn exchanges(&self) -> watch::Receiver<()> {
        self.exchanges.subscribe()
    }

    /// The prefix whose bucket could not be served, if there is one.
    pub fn failing(&self, kind: Kind) -> Option<HashPrefix> {
        HashPrefix::from_value(self.failing[kind.position()].load(Ordering::Relaxed))
    }

    /// Remembers the prefix whose bucket could not be served, or that all is well again.
    pub fn set_failing(&self, kind: Kind, prefix: Option<HashPrefix>) {
        let value = prefix.map_or(NONE_FAILING, HashPrefix::value);
        self.failing[kind.position()].store(value, Ordering::Relaxed);
    }
}
