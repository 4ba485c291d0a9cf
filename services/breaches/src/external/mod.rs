//! Clients for everything external: email, DNS, websites and webhooks.
//!
//! Email, DNS and websites are behind traits so that tests can replace them.

mod dns;
mod mail;
mod servers;
mod websites;

pub use dns::{DnsRecords, TxtRecords};
pub use mail::{FolderMailer, Mail, MailError, Mailer, NoticeHeaders, SmtpMailer, takes_mail};
pub use servers::External;
pub use websites::{SiteError, SiteFetcher, SiteRequest, Websites};
