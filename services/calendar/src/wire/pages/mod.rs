//! View models for the HTML pages. They don't depend on HTTP, and the only HTML they contain is in
//! stored descriptions.

pub(crate) mod card;
pub(crate) mod embed;
pub(crate) mod event;
mod images;
mod link;
pub(crate) mod linked;
pub(crate) mod month;
pub(crate) mod query;
pub(crate) mod structured_data;
pub(crate) mod subscriptions;

pub use link::{Choice, Link};
