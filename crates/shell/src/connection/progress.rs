//! Deadlines that are extended as long as a transfer makes progress.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Bytes that must be transferred within one period of `BODY_TIMEOUT` or `WRITE_TIMEOUT`.
const PROGRESS: usize = 1024;

/// The deadline of a transfer that must transfer at least [`PROGRESS`] bytes in each period.
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

    /// Counts transferred bytes. The period ends once there are enough.
    pub(super) fn moved(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes);
        if self.moved >= PROGRESS {
            self.reset();
        }
    }

    /// Ends the period. The next one begins with the next wait.
    pub(super) fn reset(&mut self) {
        self.moved = 0;
        self.armed = false;
    }

    /// Returns whether the period has expired. Called while waiting for the transfer.
    pub(super) fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        if !self.armed {
            self.armed = true;
            self.timer.as_mut().reset(Instant::now() + self.period);
        }
        self.timer.as_mut().poll(context).is_ready()
    }
}
