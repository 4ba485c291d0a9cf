//! Deadlines that are extended as long as a transfer keeps making progress.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// How many bytes must be transferred in each `BODY_TIMEOUT` or `WRITE_TIMEOUT` period.
pub(super) const PROGRESS: usize = 1024;

/// Deadline for a transfer, extended each time [`PROGRESS`] bytes have been transferred within the
/// period.
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

    /// Counts transferred bytes, and ends the period once enough have been transferred.
    pub(super) fn moved(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes);
        if self.moved >= PROGRESS {
            self.reset();
        }
    }

    /// Ends the current period. The next one begins when we next wait for the transfer.
    pub(super) fn reset(&mut self) {
        self.moved = 0;
        self.armed = false;
    }

    /// Returns whether a period is running.
    pub(super) fn is_armed(&self) -> bool {
        self.armed
    }

    /// Ends the current period if it ran out while we weren't waiting for the transfer.
    pub(super) fn begin_wait(&mut self) {
        if self.armed && self.timer.is_elapsed() {
            self.reset();
        }
    }

    /// Returns whether the period has run out. Called while waiting for the transfer.
    pub(super) fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        if !self.armed {
            self.armed = true;
            self.timer.as_mut().reset(Instant::now() + self.period);
        }
        self.timer.as_mut().poll(context).is_ready()
    }
}
