//! View models of the HTML pages, without HTTP and without HTML except that of stored texts.

pub(crate) mod card;
pub(crate) mod embed;
pub(crate) mod event;
mod images;
mod link;
pub(crate) mod linked;
pub(crate) mod month;
pub(crate) mod query;
pub(crate) mod structured_data;

pub use link::{Choice, Link};
