//! Proofs of control of a domain, for the API and the pages.

use database::{DatabaseError, Db, off_worker};
use domain::DomainName;

use super::domain_control::{self, Completion};
use super::mail_limits::{self, MailLimit};
use super::mails;
use super::secret_token::{SecretToken, digest};
use super::subscriber_plan;
use crate::error::{Error, VerificationError};
use crate::external::SiteError;
use crate::model::domain_size::FREE_SIZE;
use crate::model::verification::{EmailAlias, Evidence, Proof, VerificationMethod};
use crate::state::State;
use crate::store::mail_tokens::{self, DOMAIN_LINK, MailToken, NewMailToken};
use crate::store::{domain_controls, domain_inheritance, subscribers, turns};

/// Maximum size of a file.
const FILE_LIMIT: usize = 64 * 1024;
/// Number of bytes read of a home page.
const PAGE_LIMIT: usize = 512 * 1024;
/// Lifetime of a mail link.
const LINK_SECONDS: i64 = 24 * 3600;

/// The proof of a subscriber's control of a domain. Repeated calls return the same proof.
///
/// # Errors
/// [`VerificationError::DomainName`] for a domain that cannot be verified,
/// [`VerificationError::TooManyPending`], and errors of the database.
pub async fn proof(state: &State, subscriber: i64, domain: &DomainName) -> Result<Proof, Error> {
    if state.deny_list().has(domain) {
        return Err(VerificationError::DomainName.into());
    }
    let (new, name) = (domain_control::new_code()?, domain.to_string());
    let code = state
        .pools()
        .write(move |db| domain_controls::begin(db, subscriber, &name, &new))
        .await
        .map_err(Error::from)?;
    let code = code.ok_or(VerificationError::TooManyPending)?;
    Ok(Proof { prefix: state.settings().verification.verify_prefix.clone(), code })
}

/// Looks for a proof and verifies the domain.
///
/// # Errors
/// [`VerificationError`] if there is none, [`Error::Unavailable`] if a resolver does not answer.
pub async fn verify(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    method: VerificationMethod,
) -> Result<(), Error> {
    let proof = proof(state, subscriber, domain).await?;
    let (known, now) = (known(state, subscriber, domain).await?, state.clock().unix());
    let mut no_room = None;
    match known {
        Known::Verified => return Ok(()),
        Known::Below => {
            match complete(state, subscriber, domain, VerificationMethod::Parent, now).await {
                Ok(true) => return Ok(()),
                // The parent domain was revoked meanwhile.
                Ok(false) => {}
                // A domain with its own proof takes precedence over inherited ones.
                Err(error @ Error::Verification(VerificationError::NoRoom { .. })) => {
                    no_room = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Known::Pending => {}
    }
    let found = match method {
        VerificationMethod::Dns => by_dns(state, domain, &proof).await,
        VerificationMethod::File => by_file(state, domain, &proof).await,
        VerificationMethod::MetaTag => by_meta_tag(state, domain, &proof).await,
        VerificationMethod::Email | VerificationMethod::Operator | VerificationMethod::Parent => {
            return Err(Error::Internal("this verification method has no lookup".to_owned()));
        }
    };
    if let Err(error) = found {
        return Err(no_room.unwrap_or(error));
    }
    complete(state, subscriber, domain, method, now).await?;
    Ok(())
}

/// The state of a domain before a proof is looked for.
enum Known {
    Verified,
    /// A verified parent domain adds it, and the plan includes that.
    Below,
    Pending,
}

async fn known(state: &State, subscriber: i64, domain: &DomainName) -> Result<Known, Error> {
    let (name, now) = (domain.to_string(), state.clock().unix());
    let known = move |db: &mut Db| -> Result<Known, DatabaseError> {
        if domain_controls::verified(db, subscriber, &name)?.is_some() {
            return Ok(Known::Verified);
        }
        let plan = subscriber_plan::current(db, subscriber, now)?.plan;
        let below = plan.features.auto_subdomain
            && domain_inheritance::root_of(db, subscriber, &name)?.is_some();
        Ok(if below { Known::Below } else { Known::Pending })
    };
    Ok(state.pools().read(known).await?)
}

async fn by_dns(state: &State, domain: &DomainName, proof: &Proof) -> Result<(), Error> {
    let records = state.external().dns.txt(domain.as_str()).await.map_err(|error| {
        log::warn!("TXT records cannot be read: {error}");
        Error::Unavailable
    })?;
    let prefix = || proof.prefix.clone();
    match proof.in_txt(&records) {
        Evidence::Proof => Ok(()),
        Evidence::Absent => Err(VerificationError::NoRecord(prefix()).into()),
        Evidence::Other => Err(VerificationError::OtherRecord(prefix()).into()),
    }
}

async fn by_file(state: &State, domain: &DomainName, proof: &Proof) -> Result<(), Error> {
    let path = proof.file_path();
    let content = state.external().websites.file(domain.as_str(), &path, FILE_LIMIT).await;
    let content = content.map_err(|error| website(&format!("The file {path}"), error))?;
    match proof.in_file(&content) {
        Evidence::Proof => Ok(()),
        Evidence::Absent | Evidence::Other => Err(VerificationError::OtherFile(path).into()),
    }
}

async fn by_meta_tag(state: &State, domain: &DomainName, proof: &Proof) -> Result<(), Error> {
    let html = state.external().websites.home_page(domain.as_str(), PAGE_LIMIT).await;
    let html = html.map_err(|error| website("The home page", error))?;
    let prefix = || proof.prefix.clone();
    let proof = proof.clone();
    // A page may have half a MiB, which takes a worker too long to parse.
    match off_worker(move || proof.in_page(&html)).await? {
        Evidence::Proof => Ok(()),
        Evidence::Absent => Err(VerificationError::NoTag(prefix()).into()),
        Evidence::Other => Err(VerificationError::OtherTag(prefix()).into()),
    }
}

fn website(what: &str, error: SiteError) -> Error {
    VerificationError::Website(what.to_owned(), error.to_string()).into()
}

/// Verifies a domain after its proof was found, unless the plan has no room for it. Returns false
/// if a parent domain was to prove it but no longer does.
async fn complete(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    method: VerificationMethod,
    now: i64,
) -> Result<bool, Error> {
    let name = domain.to_string();
    let count = state.pools().read_long(move |db| domain_control::count_now(db, &name)).await?;
    let name = domain.to_string();
    let write = move |db: &mut Db| {
        let new = Completion { subscriber, domain: &name, method, count: &count, now };
        admit(db, &new)?;
        Ok::<_, Error>(domain_control::complete(db, &new)?)
    };
    let Some(added) = state.pools().write(write).await? else { return Ok(false) };
    count_added(state, added).await;
    Ok(true)
}

/// Counts inherited subdomains. The domain stays verified if that fails.
async fn count_added(state: &State, added: Vec<String>) {
    for domain in added {
        if let Err(error) = domain_control::count_added(state, domain).await {
            log::warn!(
                "a subdomain could not be counted and is retried after the next change: {error}"
            );
        }
    }
}

/// Locks the subscriber and checks whether the plan has room for a domain. Small domains do not
/// count, and inherited domains give way to a domain with its own proof.
fn admit(db: &mut Db, new: &Completion<'_>) -> Result<(), Error> {
    turns::take_subscriber(db, new.subscriber)?;
    if new.count.size.no_spam <= FREE_SIZE {
        return Ok(());
    }
    let max = subscriber_plan::current(db, new.subscriber, new.now)?.plan.features.max_domains;
    let others = domain_controls::larger_domains(db, new.subscriber)?.into_iter();
    let others = others.filter(|other| other.domain != new.domain);
    let used = others
        .filter(|other| new.method == VerificationMethod::Parent || other.parent_id.is_none())
        .count();
    match used >= usize::try_from(max).unwrap_or(0) {
        true => {
            let used = i64::try_from(used).unwrap_or(i64::MAX);
            Err(VerificationError::NoRoom { max, used }.into())
        }
        false => Ok(()),
    }
}

/// Sends the mail whose link proves control of a domain.
///
/// # Errors
/// [`Error::TooMany`] if too many were sent, [`Error::Unavailable`] if it cannot be sent.
pub async fn send_mail(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    alias: EmailAlias,
) -> Result<(), Error> {
    proof(state, subscriber, domain).await?;
    let (token, now) = (SecretToken::new()?, state.clock().unix());
    let link =
        format!("{}/domainVerification/approve?token={}", state.external().public_url, token.text);
    let name = domain.clone();
    let write = move |db: &mut Db| {
        mail_limits::take(db, &MailLimit::of_domain(&name, alias), now)?;
        let new = NewMailToken {
            digest: &token.digest,
            purpose: DOMAIN_LINK,
            subscriber_id: Some(subscriber),
            subject: name.as_str(),
            expires_at: now + LINK_SECONDS,
        };
        mail_tokens::add(db, &new)?;
        Ok::<_, Error>(subscribers::email(db, subscriber)?)
    };
    let owner = state.pools().write(write).await?;
    let mail = mails::domain_approval(&owner, domain, alias, &link);
    state.external().mailer.send(mail).await.map_err(|error| {
        log::warn!("a mail was not sent: {error}");
        Error::Unavailable
    })
}

/// The state of an approval link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may be used; contains its subscriber and domain.
    Open {
        /// Address of the subscriber.
        owner: String,
        /// The domain.
        domain: String,
    },
    /// It was used or has expired.
    Closed,
    /// The link does not exist.
    Unknown,
}

/// Reads a link without consuming it, because mail scanners open links.
///
/// # Errors
/// Returns errors of the database.
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
                Ok(Approval::Open { owner, domain: subject })
            }
            _ => Ok(Approval::Closed),
        }
    };
    Ok(state.pools().read(look).await?)
}

/// Consumes a link and verifies its domain. The link is not consumed if the plan has no room.
///
/// # Errors
/// [`VerificationError::NoRoom`], and errors of the database.
pub async fn approve(state: &State, token: &str) -> Result<Approval, Error> {
    let open = approval(state, token).await?;
    let Approval::Open { domain, .. } = &open else { return Ok(open) };
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
        // Locked before the link is consumed; revoking a domain uses the same order.
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
        admit(db, &new)?;
        Ok::<_, Error>(domain_control::complete(db, &new)?)
    };
    let Some(added) = state.pools().write(write).await? else { return Ok(Approval::Closed) };
    count_added(state, added).await;
    Ok(open)
}
