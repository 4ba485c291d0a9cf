//! Everything that lies outside of this process and its database.

use std::sync::Arc;

use outbound::WebhookSender;

use super::dns::TxtRecords;
use super::mail::Mailer;
use super::websites::Websites;

/// Everything that lies outside of this process and its database.
#[derive(Clone)]
pub struct Outside {
    /// Sends mails.
    pub mailer: Arc<dyn Mailer>,
    /// Reads TXT records.
    pub dns: Arc<dyn TxtRecords>,
    /// Reads files and pages of websites.
    pub websites: Arc<dyn Websites>,
    /// Calls webhooks.
    pub webhooks: WebhookSender,
    /// Where people reach this service, without a slash at its end.
    pub public_url: String,
}
