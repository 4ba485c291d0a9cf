//! An in-memory index of all events, which can answer every list of events.
//!
//! The index is updated from a change log, to which every writer in every process appends. A list
//! is read at the state that its connection sees, so that total, page and rows agree.

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
