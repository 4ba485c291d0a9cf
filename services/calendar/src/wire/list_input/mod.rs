//! Decodes list queries.

mod dates;
mod events;
mod linked;
mod query;
mod terms;

pub use events::EventListInput;
pub use linked::LinkedListInput;
pub use query::{ListOptions, ListRequest};
pub use terms::TermListInput;
