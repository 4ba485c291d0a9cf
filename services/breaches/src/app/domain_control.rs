//! Control of domains, whether proven, granted by the operator or inherited.
//!
//! Inherited subdomains are verified first and counted afterwards. The count is outside the
//! transaction because reading all of their accounts would block every writer. Once a subdomain is
//! verified, loads that suppress notices record its links, so nothing that was added before the
//! count is announced.

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

/// Token alphabet.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// Token length in characters.
const LENGTH: usize = 24;
/// Number of inherited subdomains to count in the request that verifies their parent. There may be
/// thousands, so the others are counted in the background.
const COUNTED_AT_ONCE: usize = 20;

/// Generates a random token of 24 characters from `[a-z0-9]`.
pub fn new_code() -> Result<String, OperatorError> {
    let mut code = String::with_capacity(LENGTH);
    let mut bytes = [0; 64];
    while code.len() < LENGTH {
        getrandom::fill(&mut bytes)
            .map_err(|error| OperatorError::Rejected(format!("no random bytes: {error}")))?;
        // 252 is the largest multiple of 36 that fits in a byte. Higher bytes would favor some
        // characters.
        let fair = bytes.iter().filter(|byte| **byte < 252);
        let letters = fair.map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
        code.extend(letters.take(LENGTH - code.len()));
    }
    Ok(code)
}

/// Returns the token that a subscriber must publish to prove control of a domain. It's the same
/// token every time.
///
/// # Errors
/// [`VerificationError::DomainName`] if the domain can't be verified,
/// [`VerificationError::TooManyPending`], or a database error.
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

/// Looks up an existing proof. Unlike [`proof`], this also works for domains on the deny list,
/// which the operator may have verified.
///
/// # Errors
/// [`Error::NotFound`] or a database error.
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

/// Counts a domain's breached addresses according to the catalogue in the database. Since this
/// reads all of its accounts, use a connection that doesn't block others.
pub fn count_now(db: &mut Db, domain: &str) -> Result<DomainCount, DatabaseError> {
    domain_walk::in_one_snapshot(db, |db| {
        let catalogue = breaches::catalogue(db)?;
        domain_count::count(db, &catalogue, domain)
    })
}

/// Saves a domain's counts for every subscriber who controls it. Inherited domains that now exceed
/// their plan's limit are turned off.
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

/// Turns off inherited domains that exceed the plan's limit. If the plan no longer includes
/// subdomains, they're left alone, since it may have lapsed only for a day.
fn keep_within_plan(db: &mut Db, subscriber: i64, now: i64) -> Result<(), DatabaseError> {
    let features = subscriber_plan::current(db, subscriber, now)?.plan.features;
    match features.auto_subdomain {
        true => domain_inheritance::keep_within(db, subscriber, features.max_domains),
        false => Ok(()),
    }
}

/// Saves an inherited subdomain's counts. Its existing links won't be announced.
pub fn note_count(
    db: &mut Db,
    domain: &str,
    count: &DomainCount,
    now: i64,
) -> Result<(), DatabaseError> {
    if count.size.no_spam > FREE_SIZE {
        // `note_size` needs these locks. They must be taken before the notice locks.
        for subscriber in domain_controls::controllers(db, domain)? {
            turns::take_subscriber(db, subscriber)?;
        }
    }
    notices::begin_domain(db, domain, count, now)?;
    note_size(db, domain, count, now)
}

/// Counts the first few inherited subdomains. The others, and any whose count fails, have no size
/// until they are counted in the background.
pub async fn count_added(state: &State, added: Vec<String>) {
    for domain in added.into_iter().take(COUNTED_AT_ONCE) {
        if let Err(error) = count_one(state, domain).await {
            log::warn!("a subdomain could not be counted and will be retried: {error}");
            if error.is_temporary() {
                // The others would have to wait, too.
                break;
            }
        }
    }
}

/// Counts an inherited subdomain during a request. Uses a pooled connection, because clients could
/// otherwise open any number of connections. On SQLite, other writers may have to wait for a load,
/// so saving the count is retried.
///
/// # Errors
/// [`DatabaseError::Busy`] if all connections for long reads are in use, or any other error.
pub(super) async fn count_one(state: &State, domain: String) -> Result<(), DatabaseError> {
    let (name, pools) = (domain.clone(), state.pools());
    let count = pools.read_long(move |db| count_now(db, &name)).await?;
    let now = state.clock().unix();
    let note = move |db: &mut Db| note_count(db, &domain, &count, now);
    pools.write_with_retries(DatabaseError::is_busy, note).await
}

/// A domain about to be marked as verified.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// Id of the subscriber who will control the domain.
    pub subscriber: i64,
    pub domain: &'a str,
    pub method: VerificationMethod,
    pub count: &'a DomainCount,
    /// Unix time of the verification in seconds.
    pub now: i64,
}

/// Locks the subscriber and makes sure that the plan has room. Small domains are always allowed,
/// and a directly verified domain displaces inherited ones.
pub fn admit(db: &mut Db, new: &Completion<'_>) -> Result<(), Error> {
    turns::take_subscriber(db, new.subscriber)?;
    check_room(db, new)
}

/// Makes sure that the subscriber's plan has room for a domain.
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

/// Verifies a domain, along with its known subdomains if the plan includes them. Pass the returned
/// subdomains to [`count_added`]. Returns `None` if the domain was to be inherited but can't be any
/// longer.
///
/// The transaction must hold the subscriber's lock.
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

/// Verifies the known subdomains of a domain and returns them. The caller still has to count them.
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

/// Finds subdomains that the subscriber should inherit but doesn't have yet.
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

/// Finds verified domains with newly discovered subdomains that the plan includes. Returns
/// (subscriber, domain) pairs.
///
/// # Errors
/// Returns an error if a query fails.
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

/// Verifies the new subdomains of a domain found by [`outgrown_domains`], unless it has been
/// revoked in the meantime. Pass the result to [`count_added`].
///
/// # Errors
/// Returns an error if a query fails.
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

/// Verifies a domain on behalf of the operator. Returns all domains that are now verified, already
/// counted. Subdomains that exceed the plan's limit are left out.
///
/// # Errors
/// [`OperatorError::Rejected`] if the subscriber doesn't exist.
pub fn verify_domain(
    pools: &Pools,
    email: &EmailAddress,
    domain: &DomainName,
    now: i64,
) -> Result<Vec<String>, OperatorError> {
    let name = domain.as_str();
    // Count on a read connection. Otherwise, writers would have to wait until all accounts have
    // been read.
    let mut reader = pools.connect()?;
    let id = subscriber_id(&mut reader, email)?;
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
    let added = pools.write_blocking(verify)?;
    for below in &added {
        let count = count_now(&mut reader, below)?;
        pools.write_blocking(|db| note_count(db, below, &count, now))?;
    }
    let mut verified = vec![name.to_owned()];
    for below in added {
        match domain_controls::verified(&mut reader, id, &below)? {
            Some(_) => verified.push(below),
            None => log::warn!("the plan has no room for {below}, which was not verified"),
        }
    }
    Ok(verified)
}

/// Revokes a subscriber's control of a domain and its inherited subdomains.
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

/// Recounts a domain for every subscriber who controls it.
///
/// # Errors
/// Returns an error if a query fails.
pub fn recount_domain(
    pools: &Pools,
    domain: &DomainName,
    now: i64,
) -> Result<DomainCount, OperatorError> {
    let count = count_now(&mut pools.connect()?, domain.as_str())?;
    pools.write_blocking(|db| {
        note_size(db, domain.as_str(), &count, now)?;
        let detail = format!("{} addresses", count.size.all);
        admin_events::add(db, now, "domain recount", domain.as_str(), &detail)?;
        Ok::<_, OperatorError>(())
    })?;
    Ok(count)
}
