//! View models for the HTML pages. They are independent of HTTP, and contain no HTML other than
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
