//! Event passwords.

use subtle::ConstantTimeEq as _;

use crate::model::event::Event;
use crate::model::role::{self, Actor};
use crate::wire::params::Params;

/// Returns whether a password unlocks the event. Events without a password are always unlocked.
pub fn opens(event: &Event, sent: &str) -> bool {
    // Compare in constant time.
    let agrees = |password: &String| password.as_bytes().ct_eq(sent.as_bytes()).into();
    event.password.as_ref().is_none_or(agrees)
}

/// Returns whether the event has no password or the request sent the right one.
fn is_unlocked(event: &Event, params: &Params) -> bool {
    opens(event, params.text("password").unwrap_or_default())
}

/// Returns whether a response can show an event's content: it isn't protected, the password is
/// right, or the caller is allowed to edit the event and sends `context=edit`.
pub fn is_shown(actor: &Actor, params: &Params, event: &Event) -> bool {
    let edits = params.text("context") == Some("edit")
        && actor.as_ref().is_some_and(|user| {
            role::may_edit(user, &event.status, event.previous.as_ref(), event.author)
        });
    edits || is_unlocked(event, params)
}
