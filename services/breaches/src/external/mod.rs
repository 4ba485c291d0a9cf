//! External servers that the service uses: mail, DNS, websites, webhooks.
//!
//! Each one is behind a trait, so that tests can replace it.

mod dns;
mod mail;
mod servers;
mod websites;

pub use dns::{DnsRecords, TxtRecords};
pub use mail::{FolderMailer, Mail, MailError, Mailer, NoticeHeaders, SmtpMailer, takes_mail};
pub use servers::External;
pub use websites::{SiteError, SiteFetcher, SiteRequest, Websites};
