//! An index of all events in memory, for lists that no database index answers quickly: word
//! searches, combined filters, and orders other than by start.
//!
//! It follows a change log that every writer in any process keeps. A list is read at the state that
//! its connection sees, so total, page and rows agree.

mod deadline;
mod entries;
mod event_set;
mod index;
mod live_index;
mod posting;
mod query;
mod vocabulary;

pub use deadline::{Deadline, ListError};
pub use entries::{log_change, prune};
pub use live_index::{EventIndex, IndexAccess};
