//! Heartbeats, which show that a job is alive and update its progress.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use database::{DatabaseError, Db};
use parking_lot::Mutex;

use super::context::JobContext;
use crate::store::jobs::{self, Counts};
use crate::store::load_connections;

/// Time between heartbeats.
const EVERY: Duration = Duration::from_secs(2);

/// Background thread that records a job's counts until it's dropped.
///
/// It has its own connection so that the job never waits for a lock because of a heartbeat. If the
/// database is busy, a heartbeat is skipped.
pub struct Heartbeat {
    counts: Arc<Mutex<Counts>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts a job's heartbeat.
    pub fn start(context: &JobContext, job: i64) -> Self {
        let counts = Arc::new(Mutex::new(Counts::default()));
        let (stop, stopped) = mpsc::channel();
        let (context, shared) = (context.clone(), Arc::clone(&counts));
        let thread = thread::spawn(move || {
            let mut connection = None;
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let counts = *shared.lock();
                if let Err(error) = beat(&context, &mut connection, job, counts) {
                    log::debug!("the heartbeat of job {job} failed: {error}");
                }
            }
        });
        Self { counts, stop: Some(stop), thread: Some(thread) }
    }

    /// Sets the counts for the next heartbeat.
    pub fn set(&self, counts: Counts) {
        *self.counts.lock() = counts;
    }
}

/// Records the counts. If that fails, the next heartbeat reconnects.
fn beat(
    context: &JobContext,
    connection: &mut Option<Db>,
    job: i64,
    counts: Counts,
) -> Result<(), DatabaseError> {
    let mut db = match connection.take() {
        Some(db) => db,
        None => load_connections::connect_for_notes(&context.pools)?,
    };
    jobs::note(&mut db, job, counts, context.clock.unix())?;
    *connection = Some(db);
    Ok(())
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
