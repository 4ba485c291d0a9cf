//! Bundles the clients for external servers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use outbound::{DnsError, Names, Reach, WebhookSender};

use super::dns::TxtRecords;
use super::mail::{Mail, MailError, Mailer};
use super::websites::{SiteError, SiteRequest, Websites};

/// Clients for external servers, plus our own public URL.
#[derive(Clone)]
pub struct External {
    /// Sends email.
    pub mailer: Arc<dyn Mailer>,
    /// Looks up TXT records.
    pub dns: Arc<dyn TxtRecords>,
    /// Reads files and pages from websites.
    pub websites: Arc<dyn Websites>,
    /// Calls webhooks.
    pub webhooks: WebhookSender,
    /// Base URL for links in emails and pages, without a trailing slash.
    pub public_url: String,
}

impl External {
    /// Returns clients that can't reach anything, for tests and read-only commands.
    ///
    /// # Errors
    /// Fails if the HTTP client can't be built.
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

/// A server that never responds.
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
