//! Control of domains: by proof, by the operator, and by inheritance.
//!
//! An inherited subdomain is verified first and counted later, outside the transaction, because
//! walking over its accounts would block all writers. From the verification on, loads that suppress
//! notices record their links, so links added before the count are not announced.

use database::{DatabaseError, Db, Pools};
use domain::{DomainName, EmailAddress};

use super::domain_count::{self, DomainCount};
use super::operator_error::OperatorError;
use super::subscriptions::subscriber_id;
use super::{notices, subscriber_plan};
use crate::error::{Error, VerificationError};
use crate::model::domain_size::FREE_SIZE;
use crate::model::plan::Features;
use crate::model::verification::{Proof, VerificationMethod};
use crate::state::State;
use crate::store::accounts::domain_walk;
use crate::store::domain_controls::{self, Verification};
use crate::store::{admin_events, breaches, domain_inheritance, turns};

/// The characters of which tokens consist.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// Length of a token in characters.
const LENGTH: usize = 24;

/// Generates a token of 24 characters from `[a-z0-9]`, using the system's random source.
pub fn new_code() -> Result<String, OperatorError> {
    let mut code = String::with_capacity(LENGTH);
    let mut bytes = [0; 64];
    while code.len() < LENGTH {
        getrandom::fill(&mut bytes)
            .map_err(|error| OperatorError::Rejected(format!("no random bytes: {error}")))?;
        // 252 is the largest multiple of 36 that a byte can hold. Larger values would favour some
        // characters.
        let fair = bytes.iter().filter(|byte| **byte < 252);
        let letters = fair.map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
        code.extend(letters.take(LENGTH - code.len()));
    }
    Ok(code)
}

/// Returns the proof by which a subscriber can show control of a domain. Repeated calls return the
/// same proof.
///
/// # Errors
/// [`VerificationError::DomainName`] for a domain that cannot be verified,
/// [`VerificationError::TooManyPending`], and errors of the database.
pub async fn proof(state: &State, subscriber: i64, domain: &DomainName) -> Result<Proof, Error> {
    if state.deny_list().has(domain) {
        return Err(VerificationError::DomainName.into());
    }
    let (new, name) = (new_code()?, domain.to_string());
    let code = state
        .pools()
        .write_as(Some(&subscriber.to_string()), move |db| {
            domain_controls::begin(db, subscriber, &name, &new)
        })
        .await
        .map_err(Error::from)?;
    let code = code.ok_or(VerificationError::TooManyPending)?;
    Ok(Proof { prefix: state.settings().verification.verify_prefix.clone(), code })
}

/// Returns the proof of a domain that the subscriber already has. This may be a domain on the deny
/// list that the operator verified.
///
/// # Errors
/// [`Error::NotFound`], and errors of the database.
pub async fn known_proof(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<Proof, Error> {
    let name = domain.to_string();
    let read = move |db: &mut Db| domain_controls::code(db, subscriber, &name);
    let code = state.pools().read(read).await?.ok_or(Error::NotFound)?;
    Ok(Proof { prefix: state.settings().verification.verify_prefix.clone(), code })
}

/// Counts a domain using the catalogue in the database. This walks over the accounts, so `db` must
/// be a connection that does not block others.
pub fn count_now(db: &mut Db, domain: &str) -> Result<DomainCount, DatabaseError> {
    domain_walk::in_one_snapshot(db, |db| {
        let catalogue = breaches::catalogue(db)?;
        domain_count::count(db, &catalogue, domain)
    })
}

/// Stores the counts of a domain for all its controllers. Disables inherited subdomains that no
/// longer fit into a plan.
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

/// If the plan no longer includes subdomains, existing ones are kept, because the plan may have
/// lapsed only for a day.
fn keep_within_plan(db: &mut Db, subscriber: i64, now: i64) -> Result<(), DatabaseError> {
    let features = subscriber_plan::current(db, subscriber, now)?.plan.features;
    match features.auto_subdomain {
        true => domain_inheritance::keep_within(db, subscriber, features.max_domains),
        false => Ok(()),
    }
}

/// Stores the counts of an inherited subdomain. Links that exist now are not announced.
pub fn note_count(
    db: &mut Db,
    domain: &str,
    count: &DomainCount,
    now: i64,
) -> Result<(), DatabaseError> {
    if count.size.no_spam > FREE_SIZE {
        // `note_size` needs these locks, which must be taken before those of notices.
        for subscriber in domain_controls::controllers(db, domain)? {
            turns::take_subscriber(db, subscriber)?;
        }
    }
    notices::begin_domain(db, domain, count, now)?;
    note_size(db, domain, count, now)
}

/// Counts inherited subdomains. If that fails, a subdomain stays verified, and the next change of
/// the catalogue triggers another count.
pub async fn count_added(state: &State, added: Vec<String>) {
    for domain in added {
        if let Err(error) = count_one(state, domain).await {
            log::warn!(
                "a subdomain could not be counted and is retried after the next change: {error}"
            );
        }
    }
}

/// Counts an inherited subdomain.
///
/// # Errors
/// Returns errors of the database.
pub(super) async fn count_one(state: &State, domain: String) -> Result<(), DatabaseError> {
    let (name, pools) = (domain.clone(), state.pools());
    let count = pools.read_apart(move |db| count_now(db, &name)).await?;
    let now = state.clock().unix();
    pools.write(move |db| note_count(db, &domain, &count, now)).await
}

/// A domain to mark as verified.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// Id of the subscriber who controls the domain.
    pub subscriber: i64,
    pub domain: &'a str,
    /// How it was verified.
    pub method: VerificationMethod,
    pub count: &'a DomainCount,
    /// Time of the verification in Unix seconds.
    pub now: i64,
}

/// Locks the subscriber and checks that the plan has room for a domain. Small domains do not count,
/// and a domain with its own proof displaces inherited ones.
pub fn admit(db: &mut Db, new: &Completion<'_>) -> Result<(), Error> {
    turns::take_subscriber(db, new.subscriber)?;
    check_room(db, new)
}

/// Checks that the plan of a subscriber has room for a domain.
pub fn check_room(db: &mut Db, new: &Completion<'_>) -> Result<(), Error> {
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

/// Verifies a domain. If the plan includes subdomains, also verifies the known ones and returns
/// them; they must be passed to [`count_added`]. Returns `None` if the domain depends on a parent
/// domain that no longer proves it.
///
/// The transaction must hold the lock of the subscriber.
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

/// Verifies the known subdomains of a verified domain. Returns them; they have not been counted.
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

/// Returns the subdomains that a verified domain adds and that the subscriber does not have.
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

/// Returns the verified domains for which the plan includes newly known subdomains, with their
/// subscribers.
///
/// # Errors
/// Returns errors of the database.
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

/// Adds the newly known subdomains of a domain from [`outgrown_domains`], unless the domain has
/// been revoked in the meantime. Returns the domains to pass to [`count_added`].
///
/// # Errors
/// Returns errors of the database.
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

/// Verifies a domain on behalf of the operator. Returns the verified domains, which have all been
/// counted.
///
/// # Errors
/// [`OperatorError::Rejected`] if there is no such subscriber.
pub fn verify_domain(
    pools: &Pools,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let name = domain.as_str();
    // Counted on a reading connection, because writers would otherwise wait for the walk over all
    // accounts.
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

/// Revokes a subscriber's control of a domain and of its inherited subdomains.
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

/// Recounts a domain for all its controllers.
///
/// # Errors
/// Returns errors of the database.
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
