//! Verifies domains by email.

use std::time::Duration;

use auth::{QuotaId, Rate};
use database::{DatabaseError, Db};
use domain::DomainName;

use super::domain_control::{self, Completion};
use super::mail_limits::{self, CountedMail, MailLimit};
use super::mails;
use super::secret_token::{SecretToken, digest};
use crate::error::Error;
use crate::metrics;
use crate::model::verification::{EmailAlias, VerificationMethod};
use crate::state::State;
use crate::store::mail_tokens::{self, DOMAIN_LINK, MailToken, NewMailToken};
use crate::store::{subscribers, turns};

/// How long an approval link is valid, in seconds.
const LINK_SECONDS: i64 = 24 * 3600;
/// Limit on uses of approval links per subscriber, as (count, period). If a domain exceeds the
/// plan's limit, its link remains valid, and each use counts the domain's accounts again.
const USES: (u32, Duration) = (30, Duration::from_secs(60));

/// Emails the link that proves control of a domain.
///
/// # Errors
/// [`Error::TooMany`] if an email limit is reached, [`Error::Unavailable`] if the email can't be
/// sent.
pub async fn send(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    alias: EmailAlias,
) -> Result<(), Error> {
    domain_control::proof(state, subscriber, domain).await?;
    let (token, now) = (SecretToken::new()?, state.clock().unix());
    let link =
        format!("{}/domainVerification/approve?token={}", state.external().public_url, token.text);
    let name = domain.clone();
    let write = move |db: &mut Db| {
        let limits = MailLimit::of_domain(&name, alias);
        mail_limits::take(db, &limits, now)?;
        let new = NewMailToken {
            digest: &token.digest,
            purpose: DOMAIN_LINK,
            subscriber_id: Some(subscriber),
            subject: name.as_str(),
            expires_at: now + LINK_SECONDS,
        };
        mail_tokens::add(db, &new)?;
        let mail =
            mails::domain_approval(&subscribers::email(db, subscriber)?, &name, alias, &link);
        Ok::<_, Error>(CountedMail { limits, at: now, link: token.digest, mail })
    };
    let counted = state.pools().write(write).await?;
    mail_limits::send(state, counted).await
}

/// Status of an approval link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Ready to use. Contains the subscriber and domain.
    Open {
        subscriber: i64,
        /// The subscriber's address.
        owner: String,
        domain: String,
    },
    /// Used or expired.
    Closed,
    /// There is no such link.
    Unknown,
}

/// Looks up an approval link without using it up, since email scanners follow links.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn approval(state: &State, token: &str) -> Result<Approval, Error> {
    let (digest, now) = (digest(token), state.clock().unix());
    let look = move |db: &mut Db| -> Result<Approval, DatabaseError> {
        let Some(found) = mail_tokens::find(db, &digest, DOMAIN_LINK)? else {
            return Ok(Approval::Unknown);
        };
        match found {
            MailToken { subscriber_id: Some(id), subject, expires_at, used_at: None }
                if expires_at > now =>
            {
                let owner = subscribers::email(db, id)?;
                Ok(Approval::Open { subscriber: id, owner, domain: subject })
            }
            _ => Ok(Approval::Closed),
        }
    };
    Ok(state.pools().read(look).await?)
}

/// Uses up a link and verifies its domain. If the plan has no room for the domain, the link remains
/// valid.
///
/// # Errors
/// [`VerificationError::NoRoom`](crate::error::VerificationError::NoRoom), [`Error::TooMany`]
/// beyond [`USES`], or a database error.
pub async fn approve(state: &State, token: &str) -> Result<Approval, Error> {
    let approved = approve_once(state, token).await;
    match &approved {
        Ok(approval) => {
            let is_verified = matches!(approval, Approval::Open { .. });
            metrics::count_proof(VerificationMethod::Email, is_verified);
        }
        Err(Error::Verification(_)) => metrics::count_proof(VerificationMethod::Email, false),
        Err(_) => {}
    }
    approved
}

async fn approve_once(state: &State, token: &str) -> Result<Approval, Error> {
    let open = approval(state, token).await?;
    let Approval::Open { subscriber, domain, .. } = &open else { return Ok(open) };
    let (uses, period) = USES;
    let id = QuotaId::Owner(*subscriber).purpose("page-approve");
    let charged = state.quotas().check(id, Rate::per(uses, period), 1);
    charged.map_err(|error| Error::TooMany(error.retry_after))?;
    let (name, digest, now) = (domain.clone(), digest(token), state.clock().unix());
    let count = {
        let name = name.clone();
        state.pools().read_long(move |db| domain_control::count_now(db, &name)).await?
    };
    let write = move |db: &mut Db| {
        let found = mail_tokens::find(db, &digest, DOMAIN_LINK)?;
        let Some(subscriber) = found.and_then(|found| found.subscriber_id) else {
            return Ok(None);
        };
        // Take the lock before using up the link, in the same order as when a domain is revoked.
        turns::take_subscriber(db, subscriber)?;
        if !mail_tokens::use_up(db, &digest, DOMAIN_LINK, now)? {
            return Ok(None);
        }
        let new = Completion {
            subscriber,
            domain: &name,
            method: VerificationMethod::Email,
            count: &count,
            now,
        };
        domain_control::admit(db, &new)?;
        Ok::<_, Error>(domain_control::complete(db, &new)?)
    };
    let Some(added) = state.pools().write(write).await? else { return Ok(Approval::Closed) };
    domain_control::count_added(state, added).await;
    Ok(open)
}
