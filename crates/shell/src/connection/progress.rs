//! Deadlines that count progress.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// What counts as progress within one period of `BODY_TIMEOUT` or `WRITE_TIMEOUT`, in bytes.
const PROGRESS: usize = 1024;

/// Deadline of a thing that must move at least [`PROGRESS`] bytes in each period.
pub(super) struct Progress {
    timer: Pin<Box<Sleep>>,
    period: Duration,
    moved: usize,
    armed: bool,
}

impl Progress {
    pub(super) fn new(period: Duration) -> Self {
        Self { timer: Box::pin(sleep(period)), period, moved: 0, armed: false }
    }

    /// Counts bytes that moved; enough of them start a new period.
    pub(super) fn moved(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes);
        if self.moved >= PROGRESS {
            self.rest();
        }
    }

    /// Nothing is waited for.
    pub(super) fn rest(&mut self) {
        self.moved = 0;
        self.armed = false;
    }

    /// Whether the period is over; asked while something is waited for.
    pub(super) fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        if !self.armed {
            self.armed = true;
            self.timer.as_mut().reset(Instant::now() + self.period);
        }
        self.timer.as_mut().poll(context).is_ready()
    }
}
