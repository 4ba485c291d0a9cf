//! Queries of lists.

mod dates;
mod events;
mod linked;
mod query;
mod terms;

pub use events::events;
pub use linked::linked;
pub use query::{ListOptions, ListRequest};
pub use terms::terms;
