//! Control of domains: proved, by the operator, and by a domain above.
//!
//! A subdomain that comes with another domain is verified first and counted then, outside of the
//! transaction: a walk over its accounts would keep all others from writing. Loads that nobody is to
//! hear of note what they link from the moment of verification on, so that what they add meanwhile is no
//! news.

use std::collections::HashSet;

use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress};

use super::domain_count::{self, DomainCount};
use super::notices;
use super::operator_error::OperatorError;
use super::subscriptions::subscriber_id;
use crate::model::verification::Way;
use crate::state::State;
use crate::store::domain_controls::{self, Verification};
use crate::store::{admin_events, breaches, domain_walk, plan_features, subscribers};

/// Letters of a token.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// Length of a token.
const LENGTH: usize = 24;

/// A new token: 24 characters of `[a-z0-9]` from the system's source of randomness.
pub fn new_code() -> Result<String, OperatorError> {
    let mut code = String::with_capacity(LENGTH);
    let mut bytes = [0; 64];
    while code.len() < LENGTH {
        getrandom::fill(&mut bytes)
            .map_err(|error| OperatorError::Rejected(format!("no random bytes: {error}")))?;
        // 252 is the largest multiple of 36 in a byte; above it some letters would come more often.
        let fair = bytes.iter().filter(|byte| **byte < 252);
        let letters = fair.map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
        code.extend(letters.take(LENGTH - code.len()));
    }
    Ok(code)
}

/// Counts a domain with the catalogue as it is in the database.
pub fn count_now(db: &mut Db, domain: &str) -> Result<DomainCount, DatabaseError> {
    let catalogue = breaches::catalogue(db)?;
    domain_count::count(db, &catalogue, domain)
}

/// What is counted of a subdomain that came with another domain; what is known of it now is no news.
fn note_count(
    db: &mut Db,
    domain: &str,
    count: &DomainCount,
    now: i64,
) -> Result<(), DatabaseError> {
    domain_controls::set_size(db, domain, (count.size.no_spam, count.captured), now)?;
    notices::begin_domain(db, domain, count, now)
}

/// Counts a subdomain that came with another domain.
///
/// # Errors
/// Those of the database.
pub async fn count_added(state: &State, domain: String) -> Result<(), DatabaseError> {
    let (name, pools) = (domain.clone(), state.pools());
    let count = move |db: &mut Db| domain_walk::as_of_one_moment(db, |db| count_now(db, &name));
    let (count, now) = (pools.read(count).await?, state.clock().unix());
    pools.write(move |db| note_count(db, &domain, &count, now)).await
}

/// A domain that is verified now.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// Who controls it.
    pub subscriber: i64,
    /// The domain.
    pub domain: &'a str,
    /// How it was verified.
    pub way: Way,
    /// The domain that brought it.
    pub parent: Option<i64>,
    /// What was counted of it.
    pub count: &'a DomainCount,
    /// When.
    pub now: i64,
}

/// Verifies a domain; plans with automatic subdomains get the known ones too. Returns these, which
/// [`count_added`] has still to count.
pub fn complete(db: &mut Db, new: &Completion<'_>) -> Result<Vec<String>, OperatorError> {
    let Completion { subscriber, domain, way, parent, count, now } = *new;
    let (code, way) = (new_code()?, way.word());
    let sizes = Some((count.size.no_spam, count.captured));
    let row = Verification { subscriber, domain, code: &code, way, parent, sizes, now };
    let id = domain_controls::verify(db, &row)?;
    notices::begin_domain(db, domain, count, now)?;
    if has_auto_subdomains(db, subscriber)? {
        add_known(db, subscriber, (id, domain), now)
    } else {
        Ok(Vec::new())
    }
}

/// The known mail domains below a domain that the subscriber does not control yet.
fn missing(db: &mut Db, subscriber: i64, domain: &str) -> Result<Vec<String>, DatabaseError> {
    let controlled = domain_controls::all_verified(db, subscriber)?.into_iter();
    let controlled: HashSet<String> = controlled.map(|control| control.domain).collect();
    let mut known = domain_controls::known_subdomains(db, domain)?;
    known.retain(|below| !controlled.contains(below));
    Ok(known)
}

/// Verifies them, uncounted; returns them.
fn add_known(
    db: &mut Db,
    subscriber: i64,
    (id, domain): (i64, &str),
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let added = missing(db, subscriber, domain)?;
    for domain in &added {
        let (code, way, parent) = (new_code()?, Way::Parent.word(), Some(id));
        let sizes = None;
        let row = Verification { subscriber, domain, code: &code, way, parent, sizes, now };
        domain_controls::verify(db, &row)?;
    }
    Ok(added)
}

/// The domains below which others became known since they were verified, where plans include them:
/// their numbers and names, each with the number of its subscriber.
///
/// # Errors
/// Those of the database.
pub fn outgrown_domains(db: &mut Db) -> Result<Vec<(i64, i64, String)>, DatabaseError> {
    let mut outgrown = Vec::new();
    for (id, subscriber, domain) in domain_controls::verified_roots(db)? {
        if has_auto_subdomains(db, subscriber)? && !missing(db, subscriber, &domain)?.is_empty() {
            outgrown.push((id, subscriber, domain));
        }
    }
    Ok(outgrown)
}

/// Adds to a domain of [`outgrown_domains`] what became known below it, unless it was revoked meanwhile;
/// returns what [`count_added`] has still to count.
///
/// # Errors
/// Those of the database.
pub fn add_subdomains(
    db: &mut Db,
    (id, subscriber, domain): &(i64, i64, String),
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    match domain_controls::verified(db, *subscriber, domain)? {
        Some(control) if control.id == *id => add_known(db, *subscriber, (*id, domain), now),
        _ => Ok(Vec::new()),
    }
}

/// The operator vouches for a domain. Returns the domains that are verified now, all of them counted.
pub fn verify_domain(
    db: &mut Db,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let subscriber = subscriber_id(db, email)?;
    let count = count_now(db, domain.as_str())?;
    let (way, parent, name) = (Way::Operator, None, domain.as_str());
    let new = Completion { subscriber, domain: name, way, parent, count: &count, now };
    let mut verified = vec![name.to_owned()];
    for below in complete(db, &new)? {
        let count = count_now(db, &below)?;
        note_count(db, &below, &count, now)?;
        verified.push(below);
    }
    admin_events::add(db, now, "domain verify", name, email.as_str())?;
    Ok(verified)
}

/// Takes a domain from a subscriber, with the subdomains that came with it.
pub fn revoke_domain(
    db: &mut Db,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<(), OperatorError> {
    let subscriber = subscriber_id(db, email)?;
    domain_controls::revoke(db, subscriber, domain.as_str()).map_err(|error| match error {
        DatabaseError::NotFound => {
            OperatorError::Rejected(format!("{email} does not control {domain}"))
        }
        other => other.into(),
    })?;
    admin_events::add(db, now, "domain revoke", domain.as_str(), email.as_str())?;
    Ok(())
}

/// Recounts a domain for every subscriber that controls it.
pub fn recount_domain(
    db: &mut Db,
    domain: &DomainName,
    now: i64,
) -> Result<DomainCount, OperatorError> {
    let count = count_now(db, domain.as_str())?;
    domain_controls::set_size(db, domain.as_str(), (count.size.no_spam, count.captured), now)?;
    admin_events::add(db, now, "domain recount", domain.as_str(), "")?;
    Ok(count)
}

fn has_auto_subdomains(db: &mut Db, subscriber: i64) -> Result<bool, DatabaseError> {
    let Some(subscription) = subscribers::subscription_of(db, subscriber)? else {
        return Ok(false);
    };
    let features = plan_features::get(db, &subscription.plan_code)?;
    Ok(features.is_some_and(|features| features.auto_subdomain))
}
