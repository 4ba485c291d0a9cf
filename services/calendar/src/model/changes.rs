//! Lists of event changes, for mirrors.

use super::list::Scope;

/// The filter of a change list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFilter {
    /// The events that the caller may see.
    pub scope: Scope,
    /// The earliest second of a change.
    pub since: i64,
    /// In that earliest second, only events with a greater id.
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
