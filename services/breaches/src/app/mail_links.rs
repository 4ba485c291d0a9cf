//! Links emailed to people who requested them on a web page.

use std::net::IpAddr;

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::mail_limits::{self, CountedMail, MailLimit};
use super::secret_token::{SecretToken, digest};
use crate::error::Error;
use crate::external::{Mail, takes_mail};
use crate::state::State;
use crate::store::mail_tokens::{self, MailToken, NewMailToken};

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Sign in and start a session.
    SignIn,
    /// Confirm notices about new breaches.
    Notices,
    /// Choose how to opt out.
    OptOut,
    /// Unsubscribe from notices about an address or a domain.
    Unsubscribe,
    /// Unsubscribe from a domain's monthly email.
    UnsubscribeReports,
}

impl Purpose {
    /// Returns the name used in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::Notices => "notices",
            Self::OptOut => "opt-out",
            Self::Unsubscribe => "unsubscribe",
            Self::UnsubscribeReports => "unsubscribe-reports",
        }
    }

    /// Returns the path of the page that the link opens.
    pub fn path(self) -> &'static str {
        match self {
            Self::SignIn => "/sign-in/confirm",
            Self::Notices => "/notify-me/confirm",
            Self::OptOut => "/opt-out/choose",
            Self::Unsubscribe | Self::UnsubscribeReports => "/unsubscribe",
        }
    }

    /// Returns how long the link is valid, in seconds.
    pub fn lifetime(self) -> i64 {
        match self {
            Self::SignIn => 15 * MINUTE,
            Self::Notices | Self::OptOut => DAY,
            Self::Unsubscribe | Self::UnsubscribeReports => 400 * DAY,
        }
    }
}

/// Emails a link, whether or not the address is known.
///
/// # Errors
/// [`Error::Email`] if the address can't receive email, [`Error::TooMany`] if a limit is reached,
/// [`Error::Unavailable`] if the email can't be sent.
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
    let mail = mail(address.as_str(), &link);
    let subject = address.to_string();
    let write = move |db: &mut Db| {
        let limits = MailLimit::of_person(&subject, client);
        mail_limits::take(db, &limits, now)?;
        store(db, &token, purpose, None, &subject, now)?;
        Ok::<_, Error>(CountedMail { limits, at: now, link: token.digest, mail })
    };
    let counted = state.pools().write(write).await?;
    mail_limits::send(state, counted).await
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

/// The emails that an unsubscribe link turns off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Notices about the subscriber's own address.
    Own,
    /// All emails about a domain.
    Domain(String),
    /// A domain's monthly email.
    Reports(String),
}

impl Topic {
    fn purpose(&self) -> Purpose {
        match self {
            Self::Own | Self::Domain(_) => Purpose::Unsubscribe,
            Self::Reports(_) => Purpose::UnsubscribeReports,
        }
    }

    fn subject(&self) -> &str {
        match self {
            Self::Own => "",
            Self::Domain(domain) | Self::Reports(domain) => domain,
        }
    }
}

/// Stores an unsubscribe link. It's deleted along with the subscriber, so it doesn't need to
/// contain the address.
pub fn store_unsubscribe(
    db: &mut Db,
    token: &SecretToken,
    subscriber: i64,
    topic: &Topic,
    now: i64,
) -> Result<(), DatabaseError> {
    store(db, token, topic.purpose(), Some(subscriber), topic.subject(), now)
}

/// Looks up the subscriber and topic of an unsubscribe link. These links can be used repeatedly
/// until they expire.
pub fn unsubscribes(
    db: &mut Db,
    token: &str,
    now: i64,
) -> Result<Option<(i64, Topic)>, DatabaseError> {
    for purpose in [Purpose::Unsubscribe, Purpose::UnsubscribeReports] {
        let found = mail_tokens::find(db, &digest(token), purpose.word())?;
        let Some(found) = found.filter(|found| found.expires_at > now) else { continue };
        let topic = match (purpose, found.subject) {
            (Purpose::UnsubscribeReports, domain) => Topic::Reports(domain),
            (_, domain) if domain.is_empty() => Topic::Own,
            (_, domain) => Topic::Domain(domain),
        };
        return Ok(found.subscriber_id.map(|subscriber| (subscriber, topic)));
    }
    Ok(None)
}

/// Returns the address a valid link was sent to, without using up the link. Email scanners follow
/// links, so opening one must not have any effect.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn look(state: &State, token: &str, purpose: Purpose) -> Result<Option<String>, Error> {
    let (digest, now) = (digest(token), state.clock().unix());
    let look = move |db: &mut Db| -> Result<_, DatabaseError> {
        let found = mail_tokens::find(db, &digest, purpose.word())?;
        let open = |found: &MailToken| found.used_at.is_none() && found.expires_at > now;
        Ok(found.filter(open).map(|found| found.subject))
    };
    Ok(state.pools().read(look).await?)
}

/// Uses up a link within the current transaction. Returns the address if the link was valid.
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
