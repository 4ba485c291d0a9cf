//! Server-rendered pages that work without scripts.
//!
//! Every form has a CSRF token that is tied to the session, or to the visitor if there's no
//! session. Because email scanners follow links, a link in an email leads to a page with a button.

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

mod download;
mod failure;
mod form;
mod messages;

mod visitor;

pub use failure::explain;
