//! The minimum rate at which clients must read while the process holds much memory for connections.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::account::Connection;

/// The interval at which the rate is measured.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes that a client must take within one period.
const LEAST: u64 = 64 << 10;

/// Measures the reading rate of a client that is currently not reading.
#[derive(Default)]
pub(super) struct MinimumRate {
    timer: Option<Pin<Box<Sleep>>>,
    /// Bytes that the client had taken at the beginning of the period.
    taken: u64,
}

impl MinimumRate {
    /// Stops measuring: the service no longer waits for the client.
    pub(super) fn reset(&mut self) {
        self.timer = None;
    }

    /// Returns whether a connection that holds much memory reads too slowly under memory pressure.
    /// Called while waiting for its client. Closing slow connections leaves their memory to those
    /// that read quickly.
    pub(super) fn is_missed(&mut self, context: &mut Context<'_>, connection: &Connection) -> bool {
        if !connection.holds_much() {
            self.reset();
            return false;
        }
        let taken = connection.taken.get();
        let timer = self.timer.get_or_insert_with(|| {
            self.taken = taken;
            Box::pin(sleep(PERIOD))
        });
        while timer.as_mut().poll(context).is_ready() {
            if taken - self.taken < LEAST && Connection::is_under_pressure() {
                return true;
            }
            self.taken = taken;
            timer.as_mut().reset(Instant::now() + PERIOD);
        }
        false
    }
}
