//! An outside where nobody answers.

use std::sync::Arc;

use outbound::{DnsError, Names, Reach, WebhookSender};

use super::asked::Asked;
use super::dns::TxtRecords;
use super::mail::{Mail, MailError, Mailer};
use super::outside::Outside;
use super::websites::{SiteError, Websites};

struct Nobody;

impl Mailer for Nobody {
    fn send(&self, _mail: Mail) -> Asked<'_, (), MailError> {
        Box::pin(async { Err(MailError::temporary("nobody takes mails")) })
    }
}

impl TxtRecords for Nobody {
    fn txt(&self, _name: &str) -> Asked<'_, Vec<String>, DnsError> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

impl Websites for Nobody {
    fn file(&self, _domain: &str, _path: &str, _limit: usize) -> Asked<'_, Vec<u8>, SiteError> {
        Box::pin(async { Err(SiteError::Unreachable) })
    }

    fn home_page(&self, _domain: &str, _limit: usize) -> Asked<'_, Vec<u8>, SiteError> {
        Box::pin(async { Err(SiteError::Unreachable) })
    }
}

impl Outside {
    /// An outside where nobody answers, for tests and for what only reads.
    ///
    /// # Errors
    /// When the HTTP client cannot be made.
    pub fn nobody() -> anyhow::Result<Self> {
        let reach = Reach::public().with_names(Names::Fixed(Default::default()));
        Ok(Self {
            mailer: Arc::new(Nobody),
            dns: Arc::new(Nobody),
            websites: Arc::new(Nobody),
            webhooks: WebhookSender::new(reach, "breaches")?,
            public_url: "http://localhost".to_owned(),
        })
    }
}
