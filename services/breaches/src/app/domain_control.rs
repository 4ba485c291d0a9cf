//! Control of domains: proved, by the operator, and by a domain above.
//!
//! A subdomain that comes with another domain is verified first and counted then, outside of the
//! transaction: a walk over its accounts would keep all others from writing. Loads that nobody is to
//! hear of note what they link from the moment of verification on, so that what they add meanwhile is no
//! news.

use database::{DatabaseError, Db, Pools};
use domain::{DomainName, EmailAddress};

use super::domain_count::{self, DomainCount};
use super::operator_error::OperatorError;
use super::subscriptions::subscriber_id;
use super::{notices, subscriber_plan};
use crate::model::domain_size::FREE_SIZE;
use crate::model::plan::Features;
use crate::model::verification::VerificationMethod;
use crate::state::State;
use crate::store::domain_controls::{self, Verification};
use crate::store::{admin_events, breaches, domain_inheritance, domain_walk, turns};

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

/// Counts a domain with the catalogue as it is in the database: a walk over its accounts, for connections
/// that keep nobody waiting.
pub fn count_now(db: &mut Db, domain: &str) -> Result<DomainCount, DatabaseError> {
    domain_walk::as_of_one_moment(db, |db| {
        let catalogue = breaches::catalogue(db)?;
        domain_count::count(db, &catalogue, domain)
    })
}

/// Writes what was counted of a domain for everybody who controls it. Subdomains that came by themselves
/// and have no room in their subscriber's plan any more are taken out.
pub fn note_size(
    db: &mut Db,
    domain: &str,
    count: &DomainCount,
    now: i64,
) -> Result<(), DatabaseError> {
    domain_controls::set_size(db, domain, (count.size.no_spam, count.captured), now)?;
    if count.size.no_spam > FREE_SIZE {
        for subscriber in domain_controls::controllers(db, domain)? {
            turns::take_subscriber(db, subscriber)?;
            keep_within_plan(db, subscriber, now)?;
        }
    }
    Ok(())
}

/// A plan that brings no subdomains leaves those that are there: it may have ended for a day.
fn keep_within_plan(db: &mut Db, subscriber: i64, now: i64) -> Result<(), DatabaseError> {
    let features = subscriber_plan::current(db, subscriber, now)?.plan.features;
    match features.auto_subdomain {
        true => domain_inheritance::keep_within(db, subscriber, features.max_domains),
        false => Ok(()),
    }
}

/// What is counted of a subdomain that came with another domain; what is known of it now is no news.
pub fn note_count(
    db: &mut Db,
    domain: &str,
    count: &DomainCount,
    now: i64,
) -> Result<(), DatabaseError> {
    notices::begin_domain(db, domain, count, now)?;
    note_size(db, domain, count, now)
}

/// Counts a subdomain that came with another domain.
///
/// # Errors
/// Those of the database.
pub async fn count_added(state: &State, domain: String) -> Result<(), DatabaseError> {
    let (name, pools) = (domain.clone(), state.pools());
    let count = pools.read_apart(move |db| count_now(db, &name)).await?;
    let now = state.clock().unix();
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
    pub method: VerificationMethod,
    /// What was counted of it.
    pub count: &'a DomainCount,
    /// When.
    pub now: i64,
}

/// Verifies a domain; plans with automatic subdomains get the known ones too. Returns these, which
/// [`count_added`] has still to count. None where a domain above was to prove it and does so no more.
///
/// The transaction must have taken the turn of the subscriber.
pub fn complete(db: &mut Db, new: &Completion<'_>) -> Result<Option<Vec<String>>, OperatorError> {
    let Completion { subscriber, domain, method, count, now } = *new;
    let features = subscriber_plan::current(db, subscriber, now)?.plan.features;
    let mut parent = None;
    if method == VerificationMethod::Parent {
        parent = domain_inheritance::root_of(db, subscriber, domain)?;
        if parent.is_none() || !features.auto_subdomain {
            return Ok(None);
        }
    }
    let (code, method) = (new_code()?, method.word());
    let sizes = Some((count.size.no_spam, count.captured));
    let row = Verification { subscriber, domain, code: &code, method, parent, sizes, now };
    domain_controls::verify(db, &row)?;
    notices::begin_domain(db, domain, count, now)?;
    if parent.is_some() {
        return Ok(Some(Vec::new()));
    }
    domain_inheritance::attach_below(db, subscriber, domain)?;
    let added = if features.auto_subdomain {
        add_known(db, subscriber, domain, &features, now)?
    } else {
        Vec::new()
    };
    keep_within_plan(db, subscriber, now)?;
    Ok(Some(added))
}

/// Verifies the known domains below a proved one, uncounted; returns them.
fn add_known(
    db: &mut Db,
    subscriber: i64,
    root: &str,
    features: &Features,
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let missing = missing(db, subscriber, root, features)?;
    for (domain, parent) in &missing {
        let (code, method, parent) =
            (new_code()?, VerificationMethod::Parent.word(), Some(*parent));
        let sizes = None;
        let row = Verification { subscriber, domain, code: &code, method, parent, sizes, now };
        domain_controls::verify(db, &row)?;
    }
    Ok(missing.into_iter().map(|(domain, _)| domain).collect())
}

/// The domains that a proved one brings and the subscriber does not have.
fn missing(
    db: &mut Db,
    subscriber: i64,
    root: &str,
    features: &Features,
) -> Result<Vec<(String, i64)>, DatabaseError> {
    let used = domain_controls::larger_domains(db, subscriber)?.len();
    let has_room = used < usize::try_from(features.max_domains).unwrap_or(0);
    domain_inheritance::missing(db, subscriber, root, has_room)
}

/// The proved domains below which others became known since, where plans include them, each with its
/// subscriber.
///
/// # Errors
/// Those of the database.
pub fn outgrown_domains(db: &mut Db, now: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
    let mut outgrown = Vec::new();
    for (subscriber, domain) in domain_controls::verified_roots(db)? {
        let features = subscriber_plan::current(db, subscriber, now)?.plan.features;
        if features.auto_subdomain && !missing(db, subscriber, &domain, &features)?.is_empty() {
            outgrown.push((subscriber, domain));
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
    subscriber: i64,
    domain: &str,
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    turns::take_subscriber(db, subscriber)?;
    let features = subscriber_plan::current(db, subscriber, now)?.plan.features;
    match features.auto_subdomain {
        true => add_known(db, subscriber, domain, &features, now),
        false => Ok(Vec::new()),
    }
}

/// The operator vouches for a domain. Returns the domains that are verified now, all of them counted.
///
/// # Errors
/// [`OperatorError::Rejected`] without such a subscriber.
pub fn verify_domain(
    pools: &Pools,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let name = domain.as_str();
    // Counted beside the writers, who would wait for a walk over all accounts of the domain.
    let mut reader = pools.connect()?;
    subscriber_id(&mut reader, email)?;
    let count = count_now(&mut reader, name)?;
    let verify = |db: &mut Db| {
        let subscriber = subscriber_id(db, email)?;
        turns::take_subscriber(db, subscriber)?;
        let new = Completion {
            subscriber,
            domain: name,
            method: VerificationMethod::Operator,
            count: &count,
            now,
        };
        let added = complete(db, &new)?;
        admin_events::add(db, now, "domain verify", name, email.as_str())?;
        Ok::<_, OperatorError>(added.unwrap_or_default())
    };
    let mut verified = vec![name.to_owned()];
    for below in pools.write_blocking(verify)? {
        let count = count_now(&mut reader, &below)?;
        pools.write_blocking(|db| note_count(db, &below, &count, now))?;
        verified.push(below);
    }
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
    domain_inheritance::revoke(db, subscriber, domain.as_str()).map_err(|error| match error {
        DatabaseError::NotFound => {
            OperatorError::Rejected(format!("{email} does not control {domain}"))
        }
        other => other.into(),
    })?;
    admin_events::add(db, now, "domain revoke", domain.as_str(), email.as_str())?;
    Ok(())
}

/// Recounts a domain for every subscriber that controls it.
///
/// # Errors
/// Those of the database.
pub fn recount_domain(
    pools: &Pools,
    domain: &DomainName,
    now: i64,
) -> Result<DomainCount, OperatorError> {
    let count = count_now(&mut pools.connect()?, domain.as_str())?;
    pools.write_blocking(|db| {
        note_size(db, domain.as_str(), &count, now)?;
        admin_events::add(db, now, "domain recount", domain.as_str(), "")?;
        Ok::<_, OperatorError>(())
    })?;
    Ok(count)
}
