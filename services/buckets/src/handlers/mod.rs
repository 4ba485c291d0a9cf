//! HTTP handlers, one file per resource.

pub(crate) mod account;
pub(crate) mod alerts;
pub(crate) mod buckets;
pub(crate) mod crawls;
pub(crate) mod facets;
pub(crate) mod files;
mod input;
pub(crate) mod page;
mod reply;
pub(crate) mod stats;
