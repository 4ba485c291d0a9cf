//! Pages, rendered on the server and usable without scripts.
//!
//! Every form contains a CSRF token of the session, or of the visitor if there is no session. Mail
//! links open a page with a button, because mail scanners open links.

pub(crate) mod account;
pub(crate) mod approval;
pub(crate) mod catalogue;
pub(crate) mod domain_report;
pub(crate) mod domain_search;
pub(crate) mod domains;
pub(crate) mod home;
pub(crate) mod key;
pub(crate) mod notices;
pub(crate) mod opt_out;
pub(crate) mod sign_in;
pub(crate) mod webhooks;

mod failure;
mod form;
mod messages;

mod visitor;

pub use failure::explain;
