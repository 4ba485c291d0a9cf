//! Changes of events as a mirror asks for them.

use super::list::Scope;

/// Which changes are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFilter {
    /// Which events the caller sees.
    pub scope: Scope,
    /// Not before this second.
    pub since: i64,
    /// In that second only those of later ids.
    pub behind: i64,
}

/// The last change of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Id of the event.
    pub event: i64,
    /// When it was changed, Unix seconds.
    pub at: i64,
    /// Whether the caller no longer sees it.
    pub is_gone: bool,
}
