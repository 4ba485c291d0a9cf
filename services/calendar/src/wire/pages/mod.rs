//! What pages for people show, ready for their templates: no HTTP, no HTML but that of texts.

pub(crate) mod card;
pub(crate) mod event;
mod images;
mod link;
pub(crate) mod linked;
pub(crate) mod month;
pub(crate) mod query;
pub(crate) mod structured_data;

pub use link::{Choice, Link};
