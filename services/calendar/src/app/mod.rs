//! The use cases: who may do what, in which order, and what is read and written together.

mod context;
mod event_writes;
pub mod events;
mod images;
mod interrupt;
pub mod linked;
mod linked_writes;
mod lookup;
pub mod media;
mod request;
mod slugs;
mod term_writes;
pub mod terms;
mod transactions;
mod write_context;

pub use context::RequestContext;
pub use interrupt::Interrupt;
pub use request::Request;
pub use transactions::write_blocking;
