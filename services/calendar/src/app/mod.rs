//! The use cases: who may do what, in which order, and what is read and written together.

mod context;
mod event_writes;
pub(crate) mod events;
mod images;
mod interrupt;
pub(crate) mod linked;
mod linked_writes;
mod lookup;
pub(crate) mod media;
mod request;
mod slugs;
mod term_writes;
pub(crate) mod terms;
mod transactions;
mod write_context;

pub use context::RequestContext;
pub use interrupt::Interrupt;
pub use request::Request;
pub use transactions::write_blocking;
