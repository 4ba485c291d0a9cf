//! Notes in the row of a job that it is alive, and how far it has read.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use database::{DatabaseError, Db};
use parking_lot::Mutex;

use super::context::JobContext;
use crate::store::jobs::{self, Counts};
use crate::store::load_connections;

/// Time between two notes.
const EVERY: Duration = Duration::from_secs(2);

/// A thread that notes the counts of a job until it is dropped.
///
/// It has a connection of its own, so that the job never waits for a lock in order to be noted, and a
/// note that finds the database busy is left out.
pub struct Heartbeat {
    counts: Arc<Mutex<Counts>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Begins to note that the job with this number is alive.
    pub fn start(context: &JobContext, job: i64) -> Self {
        let counts = Arc::new(Mutex::new(Counts::default()));
        let (stop, stopped) = mpsc::channel();
        let (context, shared) = (context.clone(), Arc::clone(&counts));
        let thread = thread::spawn(move || {
            let mut connection = None;
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let counts = *shared.lock();
                if let Err(error) = beat(&context, &mut connection, job, counts) {
                    log::debug!("job {job} could not be noted: {error}");
                }
            }
        });
        Self { counts, stop: Some(stop), thread: Some(thread) }
    }

    /// What to note next.
    pub fn set(&self, counts: Counts) {
        *self.counts.lock() = counts;
    }
}

/// Notes the counts; after an error the next note has a new connection.
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
