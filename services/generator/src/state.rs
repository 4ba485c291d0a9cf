//! What all requests share.

use domain::SharedClock;

/// What handlers need beside their request.
#[derive(Clone)]
pub struct State {
    /// Tells which day is today.
    pub clock: SharedClock,
}
