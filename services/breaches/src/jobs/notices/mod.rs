//! Notices: recipients, delivery, and suppression by loads.

mod delivery;
mod listeners;
pub(super) mod suppressed_notices;

pub use delivery::{deliver_due, deliver_mails, deliver_webhooks};
pub use listeners::notify_listeners;
