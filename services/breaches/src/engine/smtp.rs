//! Mails by way of an SMTP server.

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};

use super::asked::Asked;
use super::mail::{Mail, MailError, Mailer, message};

/// For one command of the exchange.
const TIMEOUT: Duration = Duration::from_secs(20);

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
        Ok(Self { from, transport: builder.timeout(Some(TIMEOUT)).build() })
    }
}

impl Mailer for SmtpMailer {
    fn send(&self, mail: Mail) -> Asked<'_, (), MailError> {
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
