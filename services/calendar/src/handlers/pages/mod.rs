//! HTML pages. They are rendered on the server, work without JavaScript, and look the same to all
//! visitors.

pub(crate) mod atom;
pub(crate) mod embed;
pub(crate) mod event;
pub(crate) mod list;
pub(crate) mod month;
pub(crate) mod period;
pub(crate) mod recorded;
pub(crate) mod site_map;
pub(crate) mod subjects;
pub(crate) mod subscriptions;

mod failure;
mod frame;
mod head;
mod site;
mod visit;

pub use failure::{is_wanted, not_found};
pub use site::SITE;
