//! Control of domains as the operator changes it.

use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress};

use super::JobError;
use crate::model::domain_size::{self, Counted};
use crate::store::domain_control::{self, Verification};
use crate::store::{account, admin_event, breach, plan_feature, subscriber};

/// Letters of a token.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// Length of a token.
const LENGTH: usize = 24;

/// A new token: 24 characters of `[a-z0-9]` from the system's source of randomness.
pub fn new_code() -> Result<String, JobError> {
    let mut code = String::with_capacity(LENGTH);
    let mut bytes = [0; 64];
    while code.len() < LENGTH {
        getrandom::fill(&mut bytes)
            .map_err(|error| JobError::Refused(format!("no random bytes: {error}")))?;
        // 252 is the largest multiple of 36 in a byte; above it some letters would come more often.
        let fair = bytes.iter().filter(|byte| **byte < 252);
        let letters = fair.map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
        code.extend(letters.take(LENGTH - code.len()));
    }
    Ok(code)
}

/// How many addresses of a domain are breached now.
pub fn size(db: &mut Db, domain: &str) -> Result<Counted, DatabaseError> {
    let catalogue = breach::catalogue(db)?;
    let rows = account::at_domain(db, domain)?;
    Ok(domain_size::count(&catalogue, rows.iter().map(|row| row.breaches.as_slice())))
}

/// The operator vouches for a domain; plans with automatic subdomains get the known ones too.
/// Returns the domains that are verified now.
pub fn verify(
    db: &mut Db,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<Vec<String>, JobError> {
    let subscriber = known(db, email)?;
    let (code, size) = (new_code()?, size(db, domain.as_str())?.no_spam);
    let (domain, way, parent) = (domain.as_str(), "operator", None);
    let parent = domain_control::verify(
        db,
        &Verification { subscriber, domain, code: &code, way, parent, size, now },
    )?;
    let mut verified = vec![domain.to_owned()];
    if has_auto_subdomains(db, subscriber)? {
        for below in domain_control::known_subdomains(db, domain)? {
            let (code, size) = (new_code()?, self::size(db, &below)?.no_spam);
            let (parent, way) = (Some(parent), "parent");
            domain_control::verify(
                db,
                &Verification { subscriber, domain: &below, code: &code, way, parent, size, now },
            )?;
            verified.push(below);
        }
    }
    admin_event::add(db, now, "domain verify", domain, email.as_str())?;
    Ok(verified)
}

/// Takes a domain from a subscriber, with the subdomains that came with it.
pub fn revoke(
    db: &mut Db,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<(), JobError> {
    let subscriber = known(db, email)?;
    domain_control::revoke(db, subscriber, domain.as_str()).map_err(|error| match error {
        DatabaseError::NotFound => JobError::Refused(format!("{email} does not control {domain}")),
        other => other.into(),
    })?;
    admin_event::add(db, now, "domain revoke", domain.as_str(), email.as_str())?;
    Ok(())
}

/// Counts a domain anew for every subscriber that controls it.
pub fn recount(db: &mut Db, domain: &DomainName, now: i64) -> Result<Counted, JobError> {
    let counted = size(db, domain.as_str())?;
    domain_control::set_size(db, domain.as_str(), counted.no_spam, now)?;
    admin_event::add(db, now, "domain recount", domain.as_str(), "")?;
    Ok(counted)
}

fn known(db: &mut Db, email: &EmailAddress) -> Result<i64, JobError> {
    subscriber::id(db, email)?
        .ok_or_else(|| JobError::Refused(format!("there is no subscriber {email}")))
}

fn has_auto_subdomains(db: &mut Db, subscriber: i64) -> Result<bool, DatabaseError> {
    let Some(subscription) = subscriber::subscription_of(db, subscriber)? else { return Ok(false) };
    let features = plan_feature::get(db, &subscription.plan_code)?;
    Ok(features.is_some_and(|features| features.auto_subdomain))
}
