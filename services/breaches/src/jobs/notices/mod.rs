//! Notices: who receives them, how they're delivered, and how loads suppress them.

mod delivery;
mod listeners;
pub(super) mod suppressed_notices;

pub use delivery::{deliver_due, deliver_mails, deliver_webhooks};
pub use listeners::notify_listeners;
