//! An index of all events in memory, for lists that no index of the database can answer quickly:
//! words, combined filters, and orders other than by start.
//!
//! It follows a log of changes that every writer keeps, in whatever process. A list is read at the
//! state that its connection sees, so that total, page and rows agree.

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
