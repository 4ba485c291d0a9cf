//! Mail links requested on a page.

use std::net::IpAddr;

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::mail_limits::{self, MailLimit};
use super::secret_token::{SecretToken, digest};
use crate::error::Error;
use crate::external::{Mail, takes_mail};
use crate::state::State;
use crate::store::mail_tokens::{self, MailToken, NewMailToken};

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A session.
    SignIn,
    /// Notices of new breaches.
    Notices,
    /// The choices of an owner.
    OptOut,
    /// The end of notices.
    Unsubscribe,
}

impl Purpose {
    /// The name in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::Notices => "notices",
            Self::OptOut => "opt-out",
            Self::Unsubscribe => "unsubscribe",
        }
    }

    /// The path of the page that accepts the link.
    pub fn path(self) -> &'static str {
        match self {
            Self::SignIn => "/sign-in/confirm",
            Self::Notices => "/notify-me/confirm",
            Self::OptOut => "/opt-out/choose",
            Self::Unsubscribe => "/unsubscribe",
        }
    }

    /// Its lifetime in seconds.
    pub fn lifetime(self) -> i64 {
        match self {
            Self::SignIn => 15 * MINUTE,
            Self::Notices | Self::OptOut => DAY,
            Self::Unsubscribe => 400 * DAY,
        }
    }
}

/// Sends a link to an address, known or not.
///
/// # Errors
/// [`Error::Email`] if the address cannot receive mail, [`Error::TooMany`] if a limit is exceeded,
/// [`Error::Unavailable`] if the mail cannot be sent.
pub async fn send(
    state: &State,
    client: IpAddr,
    address: &EmailAddress,
    purpose: Purpose,
    mail: fn(&str, &str) -> Mail,
) -> Result<(), Error> {
    if !takes_mail(address.as_str()) {
        return Err(Error::Email);
    }
    let (token, now) = (SecretToken::new()?, state.clock().unix());
    let link = format!("{}{}?token={}", state.external().public_url, purpose.path(), token.text);
    let subject = address.to_string();
    let write = move |db: &mut Db| {
        mail_limits::take(db, &MailLimit::of_person(&subject, client), now)?;
        Ok::<_, Error>(store(db, &token, purpose, None, &subject, now)?)
    };
    state.pools().write(write).await?;
    state.external().mailer.send(mail(address.as_str(), &link)).await.map_err(|error| {
        log::warn!("a mail was not sent: {error}");
        Error::Unavailable
    })
}

fn store(
    db: &mut Db,
    token: &SecretToken,
    purpose: Purpose,
    subscriber_id: Option<i64>,
    subject: &str,
    now: i64,
) -> Result<(), DatabaseError> {
    let new = NewMailToken {
        digest: &token.digest,
        purpose: purpose.word(),
        subscriber_id,
        subject,
        expires_at: now + purpose.lifetime(),
    };
    mail_tokens::add(db, &new)
}

/// Stores an unsubscribe link of mails about a domain, or about the subscriber's address. It contains
/// no address and is deleted with its subscriber.
pub fn store_unsubscribe(
    db: &mut Db,
    token: &SecretToken,
    subscriber: i64,
    domain: Option<&str>,
    now: i64,
) -> Result<(), DatabaseError> {
    store(db, token, Purpose::Unsubscribe, Some(subscriber), domain.unwrap_or(""), now)
}

/// Returns the notices that an unsubscribe link ends: the subscriber, and the domain unless it is about the subscriber's
/// address. A link works any number of times until it expires.
pub fn unsubscribes(
    db: &mut Db,
    token: &str,
    now: i64,
) -> Result<Option<(i64, Option<String>)>, DatabaseError> {
    let found = mail_tokens::find(db, &digest(token), Purpose::Unsubscribe.word())?;
    let found = found.filter(|found| found.expires_at > now);
    Ok(found.and_then(|MailToken { subscriber_id, subject, .. }| {
        Some((subscriber_id?, Some(subject).filter(|subject| !subject.is_empty())))
    }))
}

/// The address of a link if the link is valid. Does not consume it, because mail scanners open
/// links.
///
/// # Errors
/// Returns errors of the database.
pub async fn look(state: &State, token: &str, purpose: Purpose) -> Result<Option<String>, Error> {
    let (digest, now) = (digest(token), state.clock().unix());
    let look = move |db: &mut Db| -> Result<_, DatabaseError> {
        let found = mail_tokens::find(db, &digest, purpose.word())?;
        let open = |found: &MailToken| found.used_at.is_none() && found.expires_at > now;
        Ok(found.filter(open).map(|found| found.subject))
    };
    Ok(state.pools().read(look).await?)
}

/// Consumes a link in a transaction. Returns its address if it was valid.
pub fn use_up(
    db: &mut Db,
    token: &str,
    purpose: Purpose,
    now: i64,
) -> Result<Option<EmailAddress>, DatabaseError> {
    let digest = digest(token);
    let found = mail_tokens::find(db, &digest, purpose.word())?;
    match found {
        Some(found) if mail_tokens::use_up(db, &digest, purpose.word(), now)? => {
            EmailAddress::parse(&found.subject).map(Some).map_err(DatabaseError::broken)
        }
        _ => Ok(None),
    }
}
