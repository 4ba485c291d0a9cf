//! Handlers, one file per resource. They parse the request, call a single use case and build the
//! response.

pub(crate) mod accounts;
pub(crate) mod breaches;
pub(crate) mod bulk_check;
pub(crate) mod domain_verification;
pub(crate) mod domains;
pub(crate) mod pages;
pub(crate) mod pastes;
pub(crate) mod ranges;
pub(crate) mod stealer_logs;
pub(crate) mod subscription;

mod input;
mod reply;
