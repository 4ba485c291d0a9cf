//! Verification of domains, through the API and through pages.

use database::{DatabaseError, Db};
use domain::DomainName;

use super::admission::run_keyed;
use super::domain_control::{self, Completion};
use super::domain_count::DomainCount;
use super::keyed_request::KeyedRequest;
use super::{domain_evidence, domain_mail, subscriber_plan};
use crate::error::{Error, VerificationError};
use crate::metrics;
use crate::model::verification::{EmailAlias, Proof, VerificationMethod};
use crate::state::State;
use crate::store::{domain_controls, domain_inheritance};
use crate::wire::{DnsToken, DomainRequest, MailRequest};

/// Returns the token to publish in a TXT record of a domain.
///
/// # Errors
/// Returns the errors of the checks, and [`VerificationError::DomainName`].
pub async fn generate_dns_token(
    state: &State,
    request: KeyedRequest,
    body: Option<DomainRequest>,
) -> Result<DnsToken, Error> {
    let (subscriber, domain) = admitted(state, request, body.map(|body| body.domain_name)).await?;
    let proof = domain_control::proof(state, subscriber, &domain).await?;
    Ok(DnsToken { txt_record_value: proof.txt_record() })
}

/// Verifies a domain by its TXT record.
///
/// # Errors
/// Returns the errors of the checks, and [`VerificationError`].
pub async fn verify_dns_token(
    state: &State,
    request: KeyedRequest,
    body: Option<DomainRequest>,
) -> Result<(), Error> {
    let (subscriber, domain) = admitted(state, request, body.map(|body| body.domain_name)).await?;
    verify(state, subscriber, &domain, VerificationMethod::Dns).await
}

/// Sends the mail whose link verifies a domain.
///
/// # Errors
/// Returns the errors of the checks, and [`VerificationError`].
pub async fn send_email(
    state: &State,
    request: KeyedRequest,
    body: Option<MailRequest>,
) -> Result<(), Error> {
    let (name, alias) = body.map(|body| (body.domain_name, body.email_alias)).unzip();
    let (subscriber, domain) = admitted(state, request, name).await?;
    let alias = alias.as_deref().and_then(EmailAlias::parse);
    let alias = alias.ok_or(VerificationError::EmailAlias)?;
    domain_mail::send(state, subscriber, &domain, alias).await
}

/// Returns the calling subscriber and the domain in the body, after all checks.
async fn admitted(
    state: &State,
    request: KeyedRequest,
    name: Option<String>,
) -> Result<(i64, DomainName), Error> {
    let subscriber = run_keyed(state, request, |_, _, caller| Ok(caller.subscriber)).await?;
    // Test keys have already been rejected.
    let subscriber = subscriber.ok_or(Error::NotInPlan)?;
    let name = name.ok_or(VerificationError::NotJson)?;
    let domain = DomainName::parse(&name).map_err(|_| VerificationError::DomainName)?;
    Ok((subscriber, domain))
}

/// Looks for a proof and verifies the domain.
///
/// # Errors
/// [`VerificationError`] if the proof is missing, [`Error::Unavailable`] if a resolver does not
/// respond.
pub async fn verify(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    method: VerificationMethod,
) -> Result<(), Error> {
    loop {
        let proof = domain_control::proof(state, subscriber, domain).await?;
        let facts = gather(state, subscriber, domain, &proof, method).await?;
        let tried = facts.tried(method);
        let decided = decide(facts, method);
        count_refusal(tried, &decided);
        let Some((method, count)) = decided? else { return Ok(()) };
        let code = (method != VerificationMethod::Parent).then_some(proof.code);
        let written = write(state, subscriber, domain, (method, code), count).await;
        count_refusal(method, &written);
        if written? {
            metrics::count_proof(method, true);
            return Ok(());
        }
        // The domain or its parent has been revoked in the meantime.
    }
}

fn count_refusal<T>(method: VerificationMethod, outcome: &Result<T, Error>) {
    if let Err(Error::Verification(_)) = outcome {
        metrics::count_proof(method, false);
    }
}

/// The facts that decide how a domain is verified.
enum Facts {
    /// The domain is already verified.
    Verified,
    /// A verified parent domain adds this one, and the plan has room for it.
    Included(DomainCount),
    /// The result of the lookup, and the error that ruled out the parent domain.
    Looked { found: Result<DomainCount, Error>, no_room: Option<Error> },
}

impl Facts {
    /// Returns the method whose rejection is reported if none verifies the domain.
    fn tried(&self, method: VerificationMethod) -> VerificationMethod {
        match self {
            Self::Looked { no_room: Some(_), .. } => VerificationMethod::Parent,
            _ => method,
        }
    }
}

/// Gathers the facts. Looks for a proof only if one is needed.
async fn gather(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    proof: &Proof,
    method: VerificationMethod,
) -> Result<Facts, Error> {
    let (name, now, mut no_room) = (domain.to_string(), state.clock().unix(), None);
    match state.pools().read(move |db| status(db, subscriber, &name, now)).await? {
        Status::Verified => return Ok(Facts::Verified),
        Status::Included => match room_below(state, subscriber, domain, now).await {
            Ok(count) => return Ok(Facts::Included(count)),
            // A domain with its own proof takes precedence over inherited ones.
            Err(error @ Error::Verification(VerificationError::NoRoom { .. })) => {
                no_room = Some(error);
            }
            Err(error) => return Err(error),
        },
        Status::Pending => {}
    }
    let found = match domain_evidence::find(state, domain, proof, method).await {
        Ok(()) => {
            let name = domain.to_string();
            let count = move |db: &mut Db| domain_control::count_now(db, &name);
            Ok(state.pools().read_long(count).await?)
        }
        Err(error) => Err(error),
    };
    Ok(Facts::Looked { found, no_room })
}

/// Chooses the method that verifies the domain. Returns `None` if it is already verified.
fn decide(
    facts: Facts,
    method: VerificationMethod,
) -> Result<Option<(VerificationMethod, DomainCount)>, Error> {
    match facts {
        Facts::Verified => Ok(None),
        Facts::Included(count) => Ok(Some((VerificationMethod::Parent, count))),
        Facts::Looked { found: Ok(count), .. } => Ok(Some((method, count))),
        Facts::Looked { found: Err(error), no_room } => Err(no_room.unwrap_or(error)),
    }
}

/// Verifies the domain if the plan has room for it. Returns false if the proof no longer counts,
/// because the parent domain or the code has been revoked.
async fn write(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    (method, code): (VerificationMethod, Option<String>),
    count: DomainCount,
) -> Result<bool, Error> {
    let (name, now) = (domain.to_string(), state.clock().unix());
    let verify = move |db: &mut Db| {
        let new = Completion { subscriber, domain: &name, method, count: &count, now };
        domain_control::admit(db, &new)?;
        if code.is_some() && code != domain_controls::code(db, subscriber, &name)? {
            return Ok(None);
        }
        Ok::<_, Error>(domain_control::complete(db, &new)?)
    };
    let Some(added) = state.pools().write(verify).await? else { return Ok(false) };
    domain_control::count_added(state, added).await;
    Ok(true)
}

/// The state of a domain before a proof is looked for.
enum Status {
    Verified,
    /// A verified parent domain adds it, and the plan includes that.
    Included,
    Pending,
}

fn status(db: &mut Db, subscriber: i64, domain: &str, now: i64) -> Result<Status, DatabaseError> {
    if domain_controls::verified(db, subscriber, domain)?.is_some() {
        return Ok(Status::Verified);
    }
    let plan = subscriber_plan::current(db, subscriber, now)?.plan;
    let is_included = plan.features.auto_subdomain
        && domain_inheritance::root_of(db, subscriber, domain)?.is_some();
    Ok(if is_included { Status::Included } else { Status::Pending })
}

/// Counts a domain that a parent domain adds, and checks that the plan has room for it.
async fn room_below(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    now: i64,
) -> Result<DomainCount, Error> {
    let name = domain.to_string();
    let read = move |db: &mut Db| {
        let count = domain_control::count_now(db, &name)?;
        let method = VerificationMethod::Parent;
        let new = Completion { subscriber, domain: &name, method, count: &count, now };
        domain_control::check_room(db, &new)?;
        Ok(count)
    };
    state.pools().read_long(read).await
}
