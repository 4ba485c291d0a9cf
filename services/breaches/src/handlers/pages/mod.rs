//! Pages for people: rendered on the server, working without scripts.
//!
//! Every form carries a token that belongs to the session, or to the visitor where there is none;
//! links in mails open a page with a button, because scanners of mails open links.

pub(crate) mod account;
pub(crate) mod approval;
pub(crate) mod catalogue;
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
