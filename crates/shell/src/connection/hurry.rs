//! The pace that connections have to keep while the process holds much for all of them.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::account::Connection;

/// The time between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Bytes that a client has to take meanwhile.
const PACE: u64 = 64 << 10;

/// Looks, while a client takes nothing at the moment, how quick it is.
#[derive(Default)]
pub(super) struct Hurry {
    timer: Option<Pin<Box<Sleep>>>,
    /// What the client had taken at the last look.
    taken: u64,
}

impl Hurry {
    /// The client is not waited for any more.
    pub(super) fn rest(&mut self) {
        self.timer = None;
    }

    /// Whether a connection that holds much is too slow under pressure; asked while its client is waited
    /// for. Those that read quickly are spared, and what the others held is there for them.
    pub(super) fn is_over(&mut self, context: &mut Context<'_>, connection: &Connection) -> bool {
        if !connection.holds_much() {
            self.rest();
            return false;
        }
        let taken = connection.taken.get();
        let timer = self.timer.get_or_insert_with(|| {
            self.taken = taken;
            Box::pin(sleep(LOOK))
        });
        while timer.as_mut().poll(context).is_ready() {
            if taken - self.taken < PACE && Connection::is_under_pressure() {
                return true;
            }
            self.taken = taken;
            timer.as_mut().reset(Instant::now() + LOOK);
        }
        false
    }
}
