//! One file per resource: read the request, call one use case, write the answer.

pub mod accounts;
pub mod breaches;
pub mod domains;
pub mod pastes;
pub mod ranges;
pub mod stealer_logs;
pub mod subscription;

mod input;
mod reply;
