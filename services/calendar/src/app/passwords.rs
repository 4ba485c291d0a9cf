//! Passwords of events.

use subtle::ConstantTimeEq as _;

use crate::model::event::Event;
use crate::wire::params::Params;

/// Returns whether a password opens an event; one without a password is open.
pub fn opens(event: &Event, sent: &str) -> bool {
    // Compared in a time that does not depend on how much agrees.
    let agrees = |password: &String| password.as_bytes().ct_eq(sent.as_bytes()).into();
    event.password.as_ref().is_none_or(agrees)
}

/// Returns whether an event needs no password, or the one that is sent.
pub fn is_unlocked(event: &Event, params: &Params) -> bool {
    opens(event, params.text("password").unwrap_or_default())
}
