//! The use cases: permissions, order of work, and what is read and written together.

mod changes;
mod context;
mod delivery;
mod event_writes;
pub(crate) mod events;
pub(crate) mod feeds;
mod images;
mod import_overrides;
mod import_overview;
mod import_progress;
mod import_writes;
pub(crate) mod imports;
mod interrupt;
pub(crate) mod linked;
mod linked_writes;
mod list_permit;
mod loading;
mod lookup;
pub(crate) mod media;
pub(crate) mod pages;
mod passwords;
mod request;
mod slugs;
mod term_writes;
pub(crate) mod terms;
mod transactions;
pub(crate) mod uploads;
mod write_context;

pub use delivery::Delivery;
pub use import_overview::Overview;
pub use import_progress::{ImportLimits, Pass, Progress};
pub use imports::Import;
pub use list_permit::ReadList;
pub use loading::{Loading, Undone, load_line};
pub use request::Request;
pub use transactions::with_context;
