//! Mails in plain text, and the two ways to send them: an SMTP server and a folder of files.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

/// A mail in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Address of the one recipient.
    pub to: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
}

/// Why a mail was not taken; the text names neither its recipient nor its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MailError {
    /// Whether no later attempt will do better.
    pub permanent: bool,
    /// The reason, for the operator.
    pub why: String,
}

impl MailError {
    /// A failure after which a later attempt may succeed.
    pub(super) fn temporary(why: impl std::fmt::Display) -> Self {
        Self { permanent: false, why: why.to_string() }
    }

    /// A failure after which no further attempt makes sense.
    fn permanent(why: impl std::fmt::Display) -> Self {
        Self { permanent: true, why: why.to_string() }
    }
}

/// Takes mails.
pub trait Mailer: Send + Sync {
    /// Hands a mail over, once.
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>>;
}

/// Whether a mail can be addressed to a text. Breaches hold addresses, and searches take them, that
/// no mail can carry.
pub fn takes_mail(address: &str) -> bool {
    let Ok(address) = address.parse::<Address>() else { return false };
    let party = Mailbox::new(None, address);
    // Whether a header can hold the address shows when the mail is put together.
    Message::builder().from(party.clone()).to(party).body(String::new()).is_ok()
}

/// The mail as it travels. Its id is random and names the domain of the sender, not this host.
fn message(from: &Mailbox, mail: Mail) -> Result<Message, MailError> {
    let to = mail.to.parse().map_err(|_| MailError::permanent("the address takes no mail"))?;
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(MailError::temporary)?;
    let id = format!("<{:032x}@{}>", u128::from_ne_bytes(random), from.email.domain());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject)
        .message_id(Some(id))
        .header(ContentType::TEXT_PLAIN)
        .body(mail.text)
        .map_err(MailError::permanent)
}

/// For one command of the exchange.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

/// Hands mails to an SMTP server.
pub struct SmtpMailer {
    from: Mailbox,
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

impl SmtpMailer {
    /// A mailer for a URL such as `smtps://user:word@mail.example`, or
    /// `smtp://mail.example:587?tls=required`.
    ///
    /// # Errors
    /// When the URL or the sender is invalid.
    pub fn new(url: &str, from: &str) -> Result<Self, MailError> {
        let from = from.parse().map_err(MailError::permanent)?;
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url);
        let builder = builder.map_err(MailError::permanent)?;
        Ok(Self { from, transport: builder.timeout(Some(SMTP_TIMEOUT)).build() })
    }
}

impl Mailer for SmtpMailer {
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            let message = message(&self.from, mail)?;
            match self.transport.send(message).await {
                Ok(_) => Ok(()),
                Err(error) => Err(judged(&error)),
            }
        })
    }
}

/// The text of a server may quote the recipient; its code does not.
fn judged(error: &lettre::transport::smtp::Error) -> MailError {
    match error.status() {
        Some(code) if error.is_permanent() => {
            MailError::permanent(format!("the mail server answers {code}"))
        }
        Some(code) => MailError::temporary(format!("the mail server answers {code}")),
        None if error.is_timeout() => MailError::temporary("the mail server is too slow"),
        None => MailError::temporary("the mail server is out of reach"),
    }
}

/// Writes mails into a folder, a file each, in the order of their names.
pub struct FolderMailer {
    from: Mailbox,
    folder: PathBuf,
    written: AtomicU64,
}

impl FolderMailer {
    /// A mailer for a folder, which is made when the first mail is written.
    ///
    /// # Errors
    /// When the sender is invalid.
    pub fn new(folder: &Path, from: &str) -> Result<Self, MailError> {
        let from = from.parse().map_err(MailError::permanent)?;
        Ok(Self { from, folder: folder.to_owned(), written: AtomicU64::new(0) })
    }
}

impl Mailer for FolderMailer {
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            let bytes = message(&self.from, mail)?.formatted();
            let number = self.written.fetch_add(1, Ordering::Relaxed);
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let name = format!("{:013}-{}-{number:06}.eml", now.as_millis(), std::process::id());
            let (folder, path) = (self.folder.clone(), self.folder.join(name));
            let write = move || {
                // Links of mails are secrets.
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                let mut new = OpenOptions::new();
                let mut file = new.write(true).create_new(true).mode(0o600).open(path)?;
                file.write_all(&bytes)
            };
            let written = tokio::task::spawn_blocking(write).await;
            written.map_err(MailError::temporary)?.map_err(MailError::temporary)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_no_mail_can_carry_are_known() {
        for address in ["owner@example.org", "o'b+c@mail.corp.example", "a-b_c.d@x-y.example"] {
            assert!(takes_mail(address), "{address}");
        }
        for address in [
            "a..b@x.example",
            ".a@x.example",
            "a;b@x.example",
            "<a>@x.example",
            "a(b)@x.example",
            "a@-x.example",
            "a@[127.0.0.1]",
            "a@b.example,c@d.example",
            "a@x.example\r\nbcc: b@x.example",
            "",
        ] {
            assert!(!takes_mail(address), "{address}");
        }
    }
}
