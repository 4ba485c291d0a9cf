//! Lists public buckets through their providers' APIs.

mod fetch;
mod listing;
mod pages;
mod provider;
mod refusal;
mod stored;
mod turns;

pub use fetch::RemoteOptions;
pub(super) use listing::Listing;
pub use pages::Place;
pub(super) use pages::{PageSink, read_pages};
pub use refusal::Refusal;
pub(super) use stored::read_stored;
