//! What the service asks of others: mail servers, name servers, websites, webhooks.
//!
//! Each stands behind a trait, so that tests can put a peer of their own in its place.

mod asked;
mod dns;
mod folder_mail;
mod mail;
mod nobody;
mod outside;
mod smtp;
mod websites;

pub use dns::{DnsRecords, TxtRecords};
pub use folder_mail::FolderMailer;
pub use mail::{Mail, MailError, Mailer, takes_mail};
pub use outside::Outside;
pub use smtp::SmtpMailer;
pub use websites::{SiteError, SiteFetcher, Websites};
