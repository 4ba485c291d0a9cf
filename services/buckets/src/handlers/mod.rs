//! One file per resource.

pub mod account;
pub mod buckets;
pub mod files;
mod input;
pub mod page;
mod reply;
pub mod stats;
