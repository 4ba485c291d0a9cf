//! An in-memory index of all events that can answer any list request.
//!
//! Every writer, in any process, appends to a change log, and the index is updated from that log.
//! Each list is read from the same snapshot that its connection sees, which keeps the total, the
//! page and the rows consistent.

mod change_log;
mod chunk;
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

pub use change_log::{
    LINKS_REMOVED, forget_texts, forget_texts_statement, log_change, log_new, prune,
    rebuild_everywhere,
};
pub use deadline::{Deadline, ListError};
pub use live_index::{EventIndex, IndexAccess, Peeked};
