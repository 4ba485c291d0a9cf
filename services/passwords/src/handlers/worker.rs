//! What one worker thread has for itself, so that a request takes no lock and counts no reference.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use actix_web::http::header::HeaderValue;
use actix_web::rt;
use actix_web::web::ServiceConfig;
use tokio::sync::watch;

use crate::app::RangeReader;
use crate::model::Kind;
use crate::state::{Snapshot, SnapshotReader, State};

/// What one worker has for itself.
pub struct Worker {
    /// What all share.
    pub state: Arc<State>,
    /// Its view of the corpora in use.
    pub kinds: [KindReader; 2],
    /// Reads bodies.
    pub reader: RangeReader,
    /// `Cache-Control` of answers that may be kept.
    pub cache_control: HeaderValue,
}

/// A worker's own part of the application data.
pub type WorkerCell = Rc<RefCell<Worker>>;

/// Adds what a worker needs to its application data; called on the worker's own thread.
pub fn add_worker(config: &mut ServiceConfig, state: Arc<State>) {
    let max_age = format!("public, max-age={}", state.settings().max_age);
    let exchanges = state.exchanges();
    let worker = Worker {
        kinds: Kind::ALL.map(|kind| KindReader { latest: state.reader(kind), current: None }),
        reader: RangeReader::new(state.settings().verify_on_read.is_on()),
        cache_control: HeaderValue::from_str(&max_age)
            .unwrap_or(HeaderValue::from_static("no-store")),
        state,
    };
    let worker = Rc::new(RefCell::new(worker));
    rt::spawn(follow(Rc::downgrade(&worker), exchanges));
    config.app_data(worker);
}

/// Lets a worker look at each exchange which corpora are in use: one without requests would hold an
/// old one, in memory or as the disk space of a file that was pruned.
async fn follow(worker: Weak<RefCell<Worker>>, mut exchanges: watch::Receiver<()>) {
    while exchanges.changed().await.is_ok() {
        let Some(worker) = worker.upgrade() else { return };
        for kind in &mut worker.borrow_mut().kinds {
            kind.current();
        }
    }
}

/// The corpus in use of one kind, as one worker saw it last.
pub struct KindReader {
    latest: SnapshotReader,
    current: Option<Current>,
}

/// A corpus with what its answers say about it.
pub struct Current {
    /// The corpus.
    pub snapshot: Arc<Snapshot>,
    /// When it was built, as a header.
    pub last_modified: HeaderValue,
}

impl KindReader {
    /// The corpus in use now.
    #[inline]
    pub fn current(&mut self) -> Option<&Current> {
        let latest = self.latest.load().as_ref()?;
        if !self.current.as_ref().is_some_and(|seen| Arc::ptr_eq(&seen.snapshot, latest)) {
            self.current = Some(Current::of(latest.clone()));
        }
        self.current.as_ref()
    }
}

impl Current {
    fn of(snapshot: Arc<Snapshot>) -> Self {
        let last_modified = shell::http_date(snapshot.built_at())
            .unwrap_or(HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"));
        Self { snapshot, last_modified }
    }
}
