//! What the service asks of others: mail servers, name servers, websites, webhooks.
//!
//! Each stands behind a trait, so that tests can put a peer of their own in its place.

mod dns;
mod folder_mail;
mod mail;
mod nobody;
mod smtp;
mod websites;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use outbound::WebhookSender;

pub use dns::{DnsRecords, TxtRecords};
pub use folder_mail::FolderMailer;
pub use mail::{Mail, MailError, Mailer};
pub use smtp::SmtpMailer;
pub use websites::{SiteError, SiteFetcher, Websites};

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

/// The outcome of a question to somebody outside.
type Asked<'a, T, E> = BoxFuture<'a, Result<T, E>>;
