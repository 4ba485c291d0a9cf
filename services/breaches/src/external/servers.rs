//! The external servers that the service uses.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use outbound::{DnsError, Names, Reach, WebhookSender};

use super::dns::TxtRecords;
use super::mail::{Mail, MailError, Mailer};
use super::websites::{SiteError, SiteRequest, Websites};

/// The external servers that the service uses, and the public URL of the service.
#[derive(Clone)]
pub struct External {
    /// Sends mails.
    pub mailer: Arc<dyn Mailer>,
    /// Reads TXT records.
    pub dns: Arc<dyn TxtRecords>,
    /// Reads files and pages of websites.
    pub websites: Arc<dyn Websites>,
    /// Calls webhooks.
    pub webhooks: WebhookSender,
    /// The URL of this service for links in mails and pages, without a trailing slash.
    pub public_url: String,
}

impl External {
    /// Returns servers that never respond, for tests and for read-only commands.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be built.
    pub fn unavailable() -> anyhow::Result<Self> {
        let reach = Reach::public().with_names(Names::Fixed(Default::default()));
        Ok(Self {
            mailer: Arc::new(Unavailable),
            dns: Arc::new(Unavailable),
            websites: Arc::new(Unavailable),
            webhooks: WebhookSender::new(reach, "breaches")?,
            public_url: "http://localhost".to_owned(),
        })
    }
}

/// Servers that never respond.
struct Unavailable;

impl Mailer for Unavailable {
    fn send(&self, _mail: Mail) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async { Err(MailError::temporary("no mail server is configured")) })
    }
}

impl TxtRecords for Unavailable {
    fn txt(&self, _name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

impl Websites for Unavailable {
    fn file(&self, _request: SiteRequest) -> BoxFuture<'_, Result<Vec<u8>, SiteError>> {
        Box::pin(async { Err(SiteError::Unreachable) })
    }

    fn beginning(&self, _request: SiteRequest) -> BoxFuture<'_, Result<Vec<u8>, SiteError>> {
        Box::pin(async { Err(SiteError::Unreachable) })
    }
}
