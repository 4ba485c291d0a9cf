//! Change lists, which keep mirrors up to date.

use super::list::Scope;

/// Selects the changes to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFilter {
    /// Limits the list to events that the caller can see.
    pub scope: Scope,
    /// Only changes at or after this time, in Unix seconds.
    pub since: i64,
    /// For changes in the second `since`, only events with a greater id.
    pub behind: i64,
}

/// An event's most recent change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Event id.
    pub event: i64,
    /// Time of the change in Unix seconds.
    pub at: i64,
    /// Whether the caller can no longer see the event.
    pub is_gone: bool,
}
