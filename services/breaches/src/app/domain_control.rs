//! Control of domains as the operator changes it.

use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress};

use super::operator_error::OperatorError;
use super::subscriptions::subscriber_id;
use crate::model::domain_size::Counted;
use crate::model::verification::Way;
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

/// How many addresses of a domain are breached now.
pub fn size(db: &mut Db, domain: &str) -> Result<Counted, DatabaseError> {
    let catalogue = breaches::catalogue(db)?;
    let mut counted = Counted::default();
    domain_walk::each_at_domain(db, domain, |_, row| {
        counted.add(&catalogue, &row.breaches);
        Ok::<(), DatabaseError>(())
    })?;
    Ok(counted)
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
    /// Its size.
    pub size: i64,
    /// When.
    pub now: i64,
}

/// Verifies a domain; plans with automatic subdomains get the known ones too. Returns the domains
/// that are verified now.
pub fn complete(db: &mut Db, new: &Completion<'_>) -> Result<Vec<String>, OperatorError> {
    let Completion { subscriber, domain, way, parent, size, now } = *new;
    let code = new_code()?;
    let way = way.word();
    let row = Verification { subscriber, domain, code: &code, way, parent, size, now };
    let id = domain_controls::verify(db, &row)?;
    let mut verified = vec![domain.to_owned()];
    if has_auto_subdomains(db, subscriber)? {
        for below in domain_controls::known_subdomains(db, domain)? {
            let (code, size) = (new_code()?, self::size(db, &below)?.no_spam);
            let (parent, way) = (Some(id), Way::Parent.word());
            domain_controls::verify(
                db,
                &Verification { subscriber, domain: &below, code: &code, way, parent, size, now },
            )?;
            verified.push(below);
        }
    }
    Ok(verified)
}

/// Adds the subdomains that became known since their domain was verified, where plans include them.
pub fn add_subdomains(db: &mut Db, now: i64) -> Result<(), OperatorError> {
    for (parent, subscriber, domain) in domain_controls::verified_roots(db)? {
        if !has_auto_subdomains(db, subscriber)? {
            continue;
        }
        let known = domain_controls::all_verified(db, subscriber)?;
        for below in domain_controls::known_subdomains(db, &domain)? {
            if known.iter().all(|control| control.domain != below) {
                let (code, size) = (new_code()?, size(db, &below)?.no_spam);
                let (domain, way, parent) = (below.as_str(), Way::Parent.word(), Some(parent));
                let new = Verification { subscriber, domain, code: &code, way, parent, size, now };
                domain_controls::verify(db, &new)?;
            }
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
    let size = size(db, domain.as_str())?.no_spam;
    let (way, parent, name) = (Way::Operator, None, domain.as_str());
    let new = Completion { subscriber, domain: name, way, parent, size, now };
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
) -> Result<Counted, OperatorError> {
    let counted = size(db, domain.as_str())?;
    domain_controls::set_size(db, domain.as_str(), counted.no_spam, now)?;
    admin_events::add(db, now, "domain recount", domain.as_str(), "")?;
    Ok(counted)
}

fn has_auto_subdomains(db: &mut Db, subscriber: i64) -> Result<bool, DatabaseError> {
    let Some(subscription) = subscribers::subscription_of(db, subscriber)? else {
        return Ok(false);
    };
    let features = plan_features::get(db, &subscription.plan_code)?;
    Ok(features.is_some_and(|features| features.auto_subdomain))
}
