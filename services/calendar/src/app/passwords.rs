//! Passwords of events.

use subtle::ConstantTimeEq as _;

use crate::model::event::Event;
use crate::wire::params::Params;

/// Returns whether a password unlocks an event. An event without a password is always unlocked.
pub fn opens(event: &Event, sent: &str) -> bool {
    // Constant-time comparison.
    let agrees = |password: &String| password.as_bytes().ct_eq(sent.as_bytes()).into();
    event.password.as_ref().is_none_or(agrees)
}

/// Returns whether an event has no password, or the request sends the correct one.
pub fn is_unlocked(event: &Event, params: &Params) -> bool {
    opens(event, params.text("password").unwrap_or_default())
}
