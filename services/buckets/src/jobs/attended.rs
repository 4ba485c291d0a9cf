//! Lets a load do other work while it waits for its source.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::error::JobError;
use super::formats::{Bad, Item, Link, Part, Sink, Skipped, Taken};
use super::remote::{PageSink, Place, Refusal};

/// How often the load gets a chance to work.
const PAUSE: Duration = Duration::from_millis(200);

/// A sink that can do other work while its source isn't sending anything.
pub(super) trait Waiting: PageSink + Send {
    /// Does some of the other work. Called repeatedly until the source continues.
    fn while_waiting(&mut self);
}

/// A sink shared by two threads. One reads the source, and the other does work while the first is
/// waiting.
pub(super) struct Attended<'a, T>(Mutex<&'a mut T>);

impl<'a, T> Attended<'a, T> {
    /// Waits for the other thread to finish its work.
    pub(super) fn lock(&self) -> MutexGuard<'_, &'a mut T> {
        self.0.lock()
    }
}

/// Reads sources into a sink. Whenever the sources pause, the sink gets a chance to do other work.
pub(super) fn attend<T: Waiting, R>(sink: &mut T, read: impl FnOnce(&Attended<'_, T>) -> R) -> R {
    let attended = Attended(Mutex::new(sink));
    std::thread::scope(|scope| {
        let (end, ended) = channel::<()>();
        let shared = &attended;
        scope.spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                shared.lock().while_waiting();
            }
        });
        let result = read(shared);
        drop(end);
        result
    })
}

impl<T: Waiting> Sink for &Attended<'_, T> {
    fn only_bucket(&mut self, bucket: &str) {
        self.lock().only_bucket(bucket);
    }

    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.lock().file(item)
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        self.lock().bad(bad)
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        self.lock().skipped(what)
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.lock().page(bucket, kind, truncated)
    }

    fn part(&mut self, why: Part) {
        self.lock().part(why);
    }

    fn link(&mut self, link: Link) {
        self.lock().link(link);
    }

    fn rejected(&mut self) -> Result<(), JobError> {
        self.lock().rejected()
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        self.lock().broken(reason)
    }
}

impl<T: Waiting> PageSink for &Attended<'_, T> {
    fn page_done(&mut self, next: Option<&Place>, page: &[u8]) -> Result<(), JobError> {
        self.lock().page_done(next, page)
    }

    fn refused(&mut self, refusal: Refusal) {
        self.lock().refused(refusal);
    }
}
