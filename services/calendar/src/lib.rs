//! Events calendar: events, venues, organizers, categories and tags over HTTP.

pub mod model;
pub mod store;
