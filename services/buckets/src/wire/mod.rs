//! Request parameters and answers with their exact names.

pub mod account;
pub mod bucket_search;
pub mod file_search;
pub mod parameters;
pub mod stats;
