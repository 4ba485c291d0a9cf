//! Limits on outgoing emails per address, client and domain. The counts are in the database so that
//! they survive restarts and apply to all replicas.

use std::net::IpAddr;

use database::{DatabaseError, Db};
use domain::DomainName;

use super::secret_token::digest;
use crate::error::Error;
use crate::external::Mail;
use crate::model::verification::EmailAlias;
use crate::state::State;
use crate::store::{mail_counts, mail_tokens, turns};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Maximum number of emails per party within a period.
pub struct MailLimit {
    party: Vec<u8>,
    most: usize,
    seconds: i64,
    /// Whether emails count if the mail server rejects their recipient.
    counts_rejected: bool,
}

impl MailLimit {
    fn new(party: &str, most: usize, seconds: i64) -> Self {
        Self { party: digest(party), most, seconds, counts_rejected: false }
    }

    /// Returns the limits for domain verification: one for the address and one for the whole
    /// domain.
    pub fn of_domain(domain: &DomainName, alias: EmailAlias) -> Vec<Self> {
        vec![
            Self::new(&format!("alias {}@{domain}", alias.as_str()), 1, 10 * MINUTE),
            Self::new(&format!("domain {domain}"), 20, DAY),
        ]
    }

    /// Returns the limits for emails requested on a web page: one for the address and one for the
    /// client. Emails with a rejected recipient count, so that a client can't use a page to
    /// find out which of many addresses exist.
    pub fn of_person(address: &str, client: IpAddr) -> Vec<Self> {
        [
            Self::new(&format!("address {address}"), 3, HOUR),
            Self::new(&format!("client {}", network(client)), 30, HOUR),
        ]
        .map(|limit| Self { counts_rejected: true, ..limit })
        .into()
    }
}

/// Returns the network that counts as a single client. IPv6 customers usually get a /64.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
        v4 => v4,
    }
}

fn lock(db: &mut Db, limits: &[MailLimit]) -> Result<(), DatabaseError> {
    let parties: Vec<&[u8]> = limits.iter().map(|limit| limit.party.as_slice()).collect();
    turns::take(db, &parties)
}

/// Counts an email against all limits, or against none of them if any is reached. Concurrent calls
/// run one at a time.
///
/// # Errors
/// [`Error::TooMany`] with the number of seconds to wait.
pub fn take(db: &mut Db, limits: &[MailLimit], now: i64) -> Result<(), Error> {
    lock(db, limits)?;
    let mut wait = 0;
    for limit in limits {
        let sent = mail_counts::since(db, &limit.party, now - limit.seconds)?;
        if sent.len() >= limit.most {
            // Another email may be sent once this one is outside the period.
            let oldest = sent[sent.len() - limit.most];
            wait = wait.max(oldest + limit.seconds - now);
        }
    }
    if wait > 0 {
        return Err(Error::TooMany(u64::try_from(wait).unwrap_or(1)));
    }
    for limit in limits {
        mail_counts::add(db, &limit.party, now)?;
    }
    Ok(())
}

/// An email with a link, counted by [`take`].
pub struct CountedMail {
    /// The limits it was counted against.
    pub limits: Vec<MailLimit>,
    /// When it was counted.
    pub at: i64,
    /// Digest of its link.
    pub link: Vec<u8>,
    pub mail: Mail,
}

/// Sends an email. If that fails, it no longer counts, because limits apply to sent emails, and its
/// link is deleted. Some limits also apply to emails whose recipient was rejected.
///
/// # Errors
/// [`Error::Unavailable`] if the email can't be sent.
pub async fn send(state: &State, counted: CountedMail) -> Result<(), Error> {
    let CountedMail { limits, at, link, mail } = counted;
    let Err(error) = state.external().mailer.send(mail).await else { return Ok(()) };
    log::warn!("an email was not sent: {error}");
    let is_rejected = error.permanent;
    let undo = move |db: &mut Db| -> Result<(), DatabaseError> {
        lock(db, &limits)?;
        for limit in limits.iter().filter(|limit| !(is_rejected && limit.counts_rejected)) {
            mail_counts::remove_one(db, &limit.party, at)?;
        }
        mail_tokens::remove(db, &link)
    };
    if let Err(error) = state.pools().write(undo).await {
        log::warn!("an unsent email still counts: {error}");
    }
    Err(Error::Unavailable)
}

/// Deletes counts too old to matter.
pub fn prune(db: &mut Db, now: i64) -> Result<usize, DatabaseError> {
    mail_counts::prune(db, now - DAY)
}
