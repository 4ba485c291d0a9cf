//! One file per resource: read the request, ask once, convert.

pub mod account;
pub mod catalogue;
pub mod domain;
pub mod paste;
pub mod range;
pub mod stealer_log;
pub mod subscription;

mod input;
