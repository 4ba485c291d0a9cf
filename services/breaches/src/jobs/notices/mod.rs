//! Notices: who gets them, how they are delivered, and how a load leaves them out.

mod delivery;
mod listeners;
pub(super) mod suppressed_notices;

pub use delivery::{deliver_due, deliver_mails, deliver_webhooks};
pub use listeners::tell_listeners;
