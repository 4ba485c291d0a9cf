//! An index of all events in memory, which answers every list of events.
//!
//! It follows a change log that every writer in any process keeps. A list is read at the state that
//! its connection sees, so total, page and rows agree.

mod change_log;
pub(crate) mod columns;
mod deadline;
mod entries;
mod index;
pub(crate) mod links;
mod live_index;
mod month;
mod order;
mod posting;
mod query;
mod table;
mod titles;
mod vocabulary;
mod words;

pub use change_log::{LINKS_REMOVED, forget_texts, log_change, prune, rebuild_everywhere};
pub use deadline::{Deadline, ListError};
pub use live_index::{EventIndex, IndexAccess, Peeked};
