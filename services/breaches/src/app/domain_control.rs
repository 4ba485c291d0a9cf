//! Control of domains as the operator changes it.

use std::collections::HashSet;

use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress};

use super::domain_count::{self, DomainCount};
use super::notices;
use super::operator_error::OperatorError;
use super::subscriptions::subscriber_id;
use crate::model::verification::Way;
use crate::store::domain_controls::{self, Verification};
use crate::store::{admin_events, breaches, plan_features, subscribers};

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

/// Verifies a domain; plans with automatic subdomains get the known ones too. Returns the domains
/// that are verified now.
pub fn complete(db: &mut Db, new: &Completion<'_>) -> Result<Vec<String>, OperatorError> {
    let Completion { subscriber, domain, now, .. } = *new;
    let id = verify_one(db, new)?;
    let mut verified = vec![domain.to_owned()];
    if has_auto_subdomains(db, subscriber)? {
        verified.extend(add_known(db, subscriber, (id, domain), now)?);
    }
    Ok(verified)
}

/// Verifies a domain alone; what is known of it now is no news. Returns the number of the row.
fn verify_one(db: &mut Db, new: &Completion<'_>) -> Result<i64, OperatorError> {
    let Completion { subscriber, domain, way, parent, count, now } = *new;
    let (code, way) = (new_code()?, way.word());
    let (size, captured) = (count.size.no_spam, count.captured);
    let row = Verification { subscriber, domain, code: &code, way, parent, size, captured, now };
    let id = domain_controls::verify(db, &row)?;
    notices::begin_domain(db, domain, count, now)?;
    Ok(id)
}

/// Verifies the known mail domains below a domain that the subscriber does not control yet; returns them.
fn add_known(
    db: &mut Db,
    subscriber: i64,
    (id, domain): (i64, &str),
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let controlled = domain_controls::all_verified(db, subscriber)?.into_iter();
    let controlled: HashSet<String> = controlled.map(|control| control.domain).collect();
    let mut known = domain_controls::known_subdomains(db, domain)?;
    known.retain(|below| !controlled.contains(below));
    for below in &known {
        let count = count_now(db, below)?;
        let (way, parent, domain) = (Way::Parent, Some(id), below.as_str());
        verify_one(db, &Completion { subscriber, domain, way, parent, count: &count, now })?;
    }
    Ok(known)
}

/// Adds the subdomains that became known since their domain was verified, where plans include them.
pub fn add_subdomains(db: &mut Db, now: i64) -> Result<(), OperatorError> {
    for (parent, subscriber, domain) in domain_controls::verified_roots(db)? {
        if has_auto_subdomains(db, subscriber)? {
            add_known(db, subscriber, (parent, &domain), now)?;
        }
    }
    Ok(())
}

/// The operator vouches for a domain. Returns the domains that are verified now.
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
    let verified = complete(db, &new)?;
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
