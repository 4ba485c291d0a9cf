//! Per-worker state, which lets a worker handle requests without taking locks or touching reference
//! counts.

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

/// A worker's state.
pub struct Worker {
    /// State shared by all workers.
    pub state: Arc<State>,
    /// This worker's cached view of the corpora in use.
    pub kinds: [KindReader; 2],
    /// Reads response bodies.
    pub reader: RangeReader,
    /// The `Cache-Control` header for cacheable responses.
    pub cache_control: HeaderValue,
}

/// The worker state, as stored in the app data.
pub type WorkerCell = Rc<RefCell<Worker>>;

/// Adds the worker state to the app data. Must be called on the worker's thread.
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

/// Updates a worker's cached view whenever a corpus is replaced. Otherwise, an idle worker would
/// hold on to the old corpus, either in memory or as a deleted file that still takes up disk space.
async fn follow(worker: Weak<RefCell<Worker>>, mut exchanges: watch::Receiver<()>) {
    while exchanges.changed().await.is_ok() {
        let Some(worker) = worker.upgrade() else { return };
        for kind in &mut worker.borrow_mut().kinds {
            kind.current();
        }
    }
}

/// A worker's cached view of the corpus in use for one kind.
pub struct KindReader {
    latest: SnapshotReader,
    current: Option<Current>,
}

/// A corpus and its response headers.
pub struct Current {
    /// The corpus.
    pub snapshot: Arc<Snapshot>,
    /// The build time as a header value.
    pub last_modified: HeaderValue,
}

impl KindReader {
    /// Returns the corpus in use, if any.
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
