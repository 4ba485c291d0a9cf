//! Emails, and two ways of sending them: over SMTP or to a folder.

use std::error::Error as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
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
    /// Recipient.
    pub to: String,
    pub subject: String,
    pub text: String,
    /// HTML version, if any.
    pub html: Option<String>,
    /// Additional headers for notices, i.e. bulk email that wasn't requested individually.
    pub notice: Option<NoticeHeaders>,
}

impl Mail {
    /// Creates a plain text email that was requested.
    pub fn plain(to: String, subject: String, text: String) -> Self {
        Self { to, subject, text, html: None, notice: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeHeaders {
    /// Local part of the Message-ID. Must be the same for every attempt.
    pub id: String,
    /// Unsubscribe link, which also accepts one-click POST requests (RFC 8058).
    pub unsubscribe: String,
}

/// The reason an email wasn't sent. It mentions neither the recipient nor the contents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MailError {
    /// Set if retrying is pointless.
    pub permanent: bool,
    /// The reason, as shown to the operator.
    pub why: String,
}

impl MailError {
    /// Creates an error for a failure that is worth retrying.
    pub(super) fn temporary(why: impl std::fmt::Display) -> Self {
        Self { permanent: false, why: why.to_string() }
    }

    /// Creates an error for a failure that isn't worth retrying.
    fn permanent(why: impl std::fmt::Display) -> Self {
        Self { permanent: true, why: why.to_string() }
    }
}

pub trait Mailer: Send + Sync {
    /// Tries once to send an email.
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>>;
}

/// Returns `true` if we can send email to an address. That isn't the case for every address in
/// breaches and searches.
pub fn takes_mail(address: &str) -> bool {
    let Some(address) = recipient(address) else { return false };
    let party = Mailbox::new(None, address);
    // This fails if the address can't be put in a header.
    Message::builder().from(party.clone()).to(party).body(String::new()).is_ok()
}

/// Returns the recipient with their domain as A-labels, which all mail servers understand. `None`
/// if we can't send email to this address.
fn recipient(address: &str) -> Option<Address> {
    let address = EmailAddress::parse(address).ok()?;
    Address::new(address.local(), address.domain()).ok()
}

/// Builds the message. The Message-ID uses the sender's domain rather than our host name. It's
/// random unless the email specifies one.
fn message(from: &Mailbox, mail: Mail) -> Result<Message, MailError> {
    let to = recipient(&mail.to);
    let to = to.ok_or_else(|| MailError::permanent("the address cannot receive email"))?;
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

/// Timeout of a single SMTP command.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends email over SMTP.
pub struct SmtpMailer {
    from: Mailbox,
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

/// Parses the sender address used for all emails.
fn sender(from: &str) -> Result<Mailbox, MailError> {
    let example = "MAIL_FROM: the sender must be an address, such as Service <service@example.org>";
    from.parse().map_err(|_| MailError::permanent(example))
}

/// Describes what is wrong with the URL of a mail server, without quoting it.
fn url_fault(url: &str) -> String {
    let fault = match url::Url::parse(url) {
        Err(error) => error.to_string(),
        Ok(url) if !matches!(url.scheme(), "smtp" | "smtps") => {
            "the scheme is neither smtp nor smtps".to_owned()
        }
        Ok(url) if url.host_str().is_none_or(str::is_empty) => "the host is missing".to_owned(),
        Ok(_) => "the host or the parameter tls is invalid".to_owned(),
    };
    format!(
        "SMTP_URL: {fault}; use smtps://USER:PASSWORD@HOST or smtp://HOST:587?tls=required, and \
         encode special characters in the password, for example @ as %40"
    )
}

impl SmtpMailer {
    /// Creates a mailer from a URL such as `smtps://user:word@mail.example` or
    /// `smtp://mail.example:587?tls=required`.
    ///
    /// # Errors
    /// Fails if the URL or sender is invalid. The message starts with the name of the setting.
    pub fn new(url: &str, from: &str) -> Result<Self, MailError> {
        let from = sender(from)?;
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url);
        // The URL may contain a password, which the library's error can quote.
        let builder = builder.map_err(|_| MailError::permanent(url_fault(url)))?;
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

/// Converts an SMTP error. Only the status code is kept because the server's reply may quote the
/// recipient.
fn mail_error(error: &lettre::transport::smtp::Error) -> MailError {
    match error.status() {
        Some(code) if is_about_recipient(code.into(), error) => {
            MailError::permanent(format!("the mail server responded with {code}"))
        }
        Some(code) => MailError::temporary(format!("the mail server responded with {code}")),
        None if error.is_client() => unsupported(error),
        None if error.is_timeout() => MailError::temporary("the mail server timed out"),
        None => MailError::temporary("the mail server cannot be reached"),
    }
}

/// Returns `true` if a reply permanently rejects the recipient. If the server rejects our login,
/// sender or session instead, it will reject every email until the operator fixes the settings.
/// These are retried even if the code is 5xx.
fn is_about_recipient(code: u16, error: &lettre::transport::smtp::Error) -> bool {
    // RFC 3463 codes about the sender, the protocol or permissions.
    const OTHERS: [&str; 4] = ["5.1.7", "5.1.8", "5.5.", "5.7."];
    let text = error.source().map(|source| source.to_string()).unwrap_or_default();
    matches!(code, 550..=553 | 556) && !OTHERS.iter().any(|start| text.starts_with(start))
}

/// Converts an error about a feature that the server doesn't support. Only the library's message
/// mentions the feature.
fn unsupported(error: &lettre::transport::smtp::Error) -> MailError {
    if error.source().is_some_and(|source| source.to_string().contains("SMTPUTF8")) {
        MailError::permanent("the mail server does not offer SMTPUTF8, which the address needs")
    } else {
        MailError::temporary("the mail server does not offer what SMTP_URL needs (STARTTLS, AUTH)")
    }
}

/// Writes each email to a file in a folder. File names sort by time.
pub struct FolderMailer {
    from: Mailbox,
    folder: PathBuf,
    written: AtomicU64,
}

impl FolderMailer {
    /// Creates a mailer for a folder. The folder is created when the first email is sent.
    ///
    /// # Errors
    /// Fails if the sender is invalid. The message starts with the name of the setting.
    pub fn new(folder: &Path, from: &str) -> Result<Self, MailError> {
        let from = sender(from)?;
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
                // The emails contain secret links, so they're kept private.
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                create(&path, |file| file.write_all(&bytes))
            };
            let written = tokio::task::spawn_blocking(write).await;
            written.map_err(MailError::temporary)?.map_err(|error| {
                let folder = self.folder.display();
                MailError::temporary(format!("the email folder {folder} is not writable: {error}"))
            })
        })
    }
}

/// Creates a file that only its owner can read. If `write` fails, e.g. because the disk is full, no
/// part of the file is left behind.
fn create(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut new = OpenOptions::new();
    let mut file = new.write(true).create_new(true).mode(0o600).open(path)?;
    write(&mut file).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
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
    fn unusable_settings_are_named_without_quoting_them() {
        for (url, fault) in [
            ("root:geheim@mail.example", "the scheme is neither smtp nor smtps"),
            ("geheim", "relative URL without a base"),
            ("geheim://root@mail.example", "the scheme is neither smtp nor smtps"),
            ("smtp://root:geheim@mail.example:99999", "invalid port number"),
            ("smtp://root:12/geheim@mail.example?tls=geheim", "the host or the parameter tls"),
            ("smtp:geheim", "the host is missing"),
        ] {
            let error = SmtpMailer::new(url, "service@example.org").err().unwrap().why;
            assert!(error.starts_with(&format!("SMTP_URL: {fault}")), "{error}");
            assert!(!error.contains("geheim") && !error.contains("root"), "{error}");
        }
        let error = SmtpMailer::new("smtp://mail.example", "Service").err().unwrap().why;
        assert!(error.starts_with("MAIL_FROM: "), "{error}");
    }

    #[actix_web::test]
    async fn error_of_an_email_that_cannot_be_written_names_the_folder() {
        let mailer = FolderMailer::new(Path::new("/proc/x"), "service@example.org").unwrap();
        let [to, subject, text] = ["owner@example.org", "Link", "x"].map(Into::into);
        let error = mailer.send(Mail::plain(to, subject, text)).await.unwrap_err();
        assert!(!error.permanent && error.why.contains("email folder /proc/x "), "{error:?}");
    }

    #[test]
    fn email_that_could_not_be_written_leaves_no_file() {
        let folder = testkit::Folder::new();
        let path = folder.path().join("x.eml");
        let half = |file: &mut File| -> io::Result<()> {
            file.write_all(b"From: ")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert_eq!(create(&path, half).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!path.exists());
        create(&path, |file| file.write_all(b"whole")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
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
