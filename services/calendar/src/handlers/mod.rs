//! HTTP handlers, with one file per resource. They read the parameters, call a single use case and
//! return JSON.

pub(crate) mod categories;
pub(crate) mod edge;
pub(crate) mod events;
pub(crate) mod ical;
pub(crate) mod images;
pub(crate) mod imports;
pub(crate) mod index;
mod input;
mod item_routes;
mod linked;
pub(crate) mod media;
mod multipart;
pub(crate) mod organizers;
pub(crate) mod pages;
mod path;
mod reply;
mod reuse;
pub(crate) mod subscriptions;
pub(crate) mod tags;
mod terms;
mod upload;
pub(crate) mod venues;
