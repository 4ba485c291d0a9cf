//! Event passwords.

use subtle::ConstantTimeEq as _;

use crate::model::event::Event;
use crate::wire::params::Params;

/// Returns whether a password unlocks the event. Events without a password are always unlocked.
pub fn opens(event: &Event, sent: &str) -> bool {
    // Compare in constant time.
    let agrees = |password: &String| password.as_bytes().ct_eq(sent.as_bytes()).into();
    event.password.as_ref().is_none_or(agrees)
}

/// Returns whether the event has no password or the request sent the right one.
pub fn is_unlocked(event: &Event, params: &Params) -> bool {
    opens(event, params.text("password").unwrap_or_default())
}
