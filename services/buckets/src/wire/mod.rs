//! Request parameters and answers with their exact names.

pub mod account;
pub mod buckets;
pub mod files;
pub mod parameters;
pub mod stats;
