//! Mails, and two ways to send them: through an SMTP server, or to files in a folder.

use std::error::Error as _;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::EmailAddress;
use futures_util::future::BoxFuture;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Address of the recipient.
    pub to: String,
    pub subject: String,
    pub text: String,
    /// The content as HTML, if the mail has any.
    pub html: Option<String>,
    /// Headers that only a notice has, because the recipient did not request it.
    pub notice: Option<NoticeHeaders>,
}

impl Mail {
    /// Creates a requested mail, in plain text.
    pub fn plain(to: String, subject: String, text: String) -> Self {
        Self { to, subject, text, html: None, notice: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeHeaders {
    /// The left part of the Message-ID. It is the same in every attempt to deliver the notice.
    pub id: String,
    /// The link that ends such notices when it gets a POST request (RFC 8058).
    pub unsubscribe: String,
}

/// The reason that a mail was not sent. Contains neither the recipient nor the content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MailError {
    /// Whether retrying is pointless.
    pub permanent: bool,
    /// The reason, for the operator.
    pub why: String,
}

impl MailError {
    /// Creates an error after which sending may be retried.
    pub(super) fn temporary(why: impl std::fmt::Display) -> Self {
        Self { permanent: false, why: why.to_string() }
    }

    /// Creates an error after which sending must not be retried.
    fn permanent(why: impl std::fmt::Display) -> Self {
        Self { permanent: true, why: why.to_string() }
    }
}

/// Sends mails.
pub trait Mailer: Send + Sync {
    /// Makes one attempt to send a mail.
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>>;
}

/// Returns whether a mail can be sent to an address. Breaches and searches may contain addresses
/// that cannot receive mail.
pub fn takes_mail(address: &str) -> bool {
    let Some(address) = recipient(address) else { return false };
    let party = Mailbox::new(None, address);
    // Building a message fails if a header cannot contain the address.
    Message::builder().from(party.clone()).to(party).body(String::new()).is_ok()
}

/// Returns the recipient with its domain as A-labels, which every mail server accepts. Returns
/// `None` if mail cannot be sent to the address.
fn recipient(address: &str) -> Option<Address> {
    let address = EmailAddress::parse(address).ok()?;
    Address::new(address.local(), address.domain()).ok()
}

/// Builds the message. Its Message-ID contains the domain of the sender rather than the name of
/// this host, and is random unless the mail specifies one.
fn message(from: &Mailbox, mail: Mail) -> Result<Message, MailError> {
    let to = recipient(&mail.to);
    let to = to.ok_or_else(|| MailError::permanent("the address cannot receive mail"))?;
    let id = match &mail.notice {
        Some(notice) => notice.id.clone(),
        None => random_id()?,
    };
    let mut message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject)
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .raw_header(header("Auto-Submitted", "auto-generated".to_owned()));
    if let Some(NoticeHeaders { unsubscribe, .. }) = mail.notice {
        // RFC 8058 requires HTTPS.
        if unsubscribe.starts_with("https://") {
            let one_click = "List-Unsubscribe=One-Click".to_owned();
            message = message.raw_header(header("List-Unsubscribe-Post", one_click));
        }
        message = message.raw_header(header("List-Unsubscribe", format!("<{unsubscribe}>")));
    }
    let built = match mail.html {
        Some(html) => message.multipart(MultiPart::alternative_plain_html(mail.text, html)),
        None => message.header(ContentType::TEXT_PLAIN).body(mail.text),
    };
    built.map_err(MailError::permanent)
}

fn header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

fn random_id() -> Result<String, MailError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(MailError::temporary)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(random)))
}

/// Timeout of one SMTP command.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends mails through an SMTP server.
pub struct SmtpMailer {
    from: Mailbox,
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

impl SmtpMailer {
    /// Creates a mailer for a URL such as `smtps://user:word@mail.example` or
    /// `smtp://mail.example:587?tls=required`.
    ///
    /// # Errors
    /// Returns an error if the URL or the sender is invalid.
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
                Err(error) => Err(mail_error(&error)),
            }
        })
    }
}

/// Converts an SMTP error. The server's text may quote the recipient, so only its code is kept.
fn mail_error(error: &lettre::transport::smtp::Error) -> MailError {
    match error.status() {
        Some(code) if is_about_recipient(code.into(), error) => {
            MailError::permanent(format!("the mail server answered {code}"))
        }
        Some(code) => MailError::temporary(format!("the mail server answered {code}")),
        None if error.is_client() => unsupported(error),
        None if error.is_timeout() => MailError::temporary("the mail server timed out"),
        None => MailError::temporary("the mail server cannot be reached"),
    }
}

/// Returns whether a reply permanently rejects the recipient. A rejected login, sender or session rejects
/// every mail until the operator corrects the settings, so it is retried although its code is 5xx.
fn is_about_recipient(code: u16, error: &lettre::transport::smtp::Error) -> bool {
    // Detailed codes of RFC 3463 about the sender, the protocol and permissions.
    const OTHERS: [&str; 4] = ["5.1.7", "5.1.8", "5.5.", "5.7."];
    let text = error.source().map(|source| source.to_string()).unwrap_or_default();
    matches!(code, 550..=553 | 556) && !OTHERS.iter().any(|start| text.starts_with(start))
}

/// Converts an error of a feature that the server does not offer. The library names the feature
/// only in the text.
fn unsupported(error: &lettre::transport::smtp::Error) -> MailError {
    if error.source().is_some_and(|source| source.to_string().contains("SMTPUTF8")) {
        MailError::permanent("the mail server does not offer SMTPUTF8, which the address needs")
    } else {
        MailError::temporary("the mail server does not offer what SMTP_URL needs (STARTTLS, AUTH)")
    }
}

/// Writes each mail to a file in a folder. The files sort by time.
pub struct FolderMailer {
    from: Mailbox,
    folder: PathBuf,
    written: AtomicU64,
}

impl FolderMailer {
    /// Creates a mailer for a folder. The folder is created with the first mail.
    ///
    /// # Errors
    /// Returns an error if the sender is invalid.
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
                // Mails contain secret links.
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

    #[actix_web::test]
    async fn missing_feature_of_the_server_is_permanent_only_if_the_address_needs_it() {
        let peer = testkit::SmtpPeer::start();
        let host = peer.url().replace("smtp://", "");
        let mail = |to: &str| {
            let [to, subject, text] = [to, "Link", "https://localhost/x"].map(Into::into);
            Mail::plain(to, subject, text)
        };
        for url in [format!("smtp://user:word@{host}"), format!("smtp://{host}?tls=required")] {
            let mailer = SmtpMailer::new(&url, "service@example.org").unwrap();
            let error = mailer.send(mail("owner@example.org")).await.unwrap_err();
            assert!(!error.permanent && error.why.contains("SMTP_URL"), "{url}: {error:?}");
        }
        let mailer = SmtpMailer::new(&peer.url(), "service@example.org").unwrap();
        let error = mailer.send(mail("j\u{fc}rgen@example.org")).await.unwrap_err();
        assert!(error.permanent && error.why.contains("SMTPUTF8"), "{error:?}");
    }

    #[test]
    fn undeliverable_addresses_are_detected() {
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
