//! Lists of event changes, from which mirrors update themselves.

use super::list::Scope;

/// Selects the changes of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFilter {
    /// The events that the caller may see.
    pub scope: Scope,
    /// Only changes at or after this time, in Unix seconds.
    pub since: i64,
    /// Among changes in the second `since`, only events with a greater id.
    pub behind: i64,
}

/// The latest change of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Id of the event.
    pub event: i64,
    /// Time of the change in Unix seconds.
    pub at: i64,
    /// Whether the caller can no longer see the event.
    pub is_gone: bool,
}
