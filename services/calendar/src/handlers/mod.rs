//! Handlers, a file per resource: parameters in, one use case, JSON out.

pub mod categories;
pub mod edge;
pub mod events;
pub mod index;
mod input;
mod item_routes;
pub mod media;
pub mod organizers;
mod path;
mod reply;
pub mod tags;
pub mod venues;
