//! Enforces a minimum rate for reading responses and for sending heads and bodies while connections
//! use a lot of memory.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::account::Connection;

/// How often the rate is measured.
const PERIOD: Duration = Duration::from_secs(1);
/// How many bytes a connection must transfer in each period.
const LEAST: u64 = 64 << 10;

/// Measures how fast a slow client reads or sends.
#[derive(Default)]
pub(super) struct MinimumRate {
    timer: Option<Pin<Box<Sleep>>>,
    /// Bytes the connection had transferred at the start of the period.
    moved: u64,
}

impl MinimumRate {
    /// Stops measuring because the client has read everything sent so far.
    pub(super) fn reset(&mut self) {
        self.timer = None;
    }

    /// Starts a new period if the last one ended while we weren't waiting for the client. A period
    /// that is still running continues. Otherwise, a client could keep restarting it by
    /// transferring a few bytes at a time.
    pub(super) fn begin_wait(&mut self) {
        if self.timer.as_ref().is_some_and(|timer| timer.is_elapsed()) {
            self.reset();
        }
    }

    /// Returns whether a connection that uses a lot of memory is too slow while memory is scarce.
    /// Closing such connections frees memory for faster clients.
    ///
    /// Called while waiting for the client.
    pub(super) fn is_missed(&mut self, context: &mut Context<'_>, connection: &Connection) -> bool {
        if !connection.holds_some() {
            self.reset();
            return false;
        }
        let moved = connection.moved.get();
        let timer = self.timer.get_or_insert_with(|| {
            self.moved = moved;
            Box::pin(sleep(PERIOD))
        });
        while timer.as_mut().poll(context).is_ready() {
            if moved - self.moved < LEAST && connection.must_keep_up() {
                return true;
            }
            self.moved = moved;
            timer.as_mut().reset(Instant::now() + PERIOD);
        }
        false
    }
}
