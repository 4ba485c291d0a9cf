//! Domain verification through the API and the web pages.

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

/// Returns the token to publish in a TXT record.
///
/// # Errors
/// Returns an error if a check fails, or a [`VerificationError`].
pub async fn generate_dns_token(
    state: &State,
    request: KeyedRequest,
    body: Result<Option<DomainRequest>, Error>,
) -> Result<DnsToken, Error> {
    let admitted = admitted(state, request, body, |body| &body.domain_name).await?;
    let (subscriber, domain, _) = admitted;
    let proof = domain_control::proof(state, subscriber, &domain).await?;
    Ok(DnsToken { txt_record_value: proof.txt_record() })
}

/// Verifies a domain by its TXT record.
///
/// # Errors
/// Returns an error if a check fails, or a [`VerificationError`].
pub async fn verify_dns_token(
    state: &State,
    request: KeyedRequest,
    body: Result<Option<DomainRequest>, Error>,
) -> Result<(), Error> {
    let admitted = admitted(state, request, body, |body| &body.domain_name).await?;
    let (subscriber, domain, _) = admitted;
    verify(state, subscriber, &domain, VerificationMethod::Dns).await
}

/// Emails a verification link for the domain.
///
/// # Errors
/// Returns an error if a check fails, or a [`VerificationError`].
pub async fn send_email(
    state: &State,
    request: KeyedRequest,
    body: Result<Option<MailRequest>, Error>,
) -> Result<(), Error> {
    let admitted = admitted(state, request, body, |body| &body.domain_name).await?;
    let (subscriber, domain, body) = admitted;
    let alias = EmailAlias::parse(&body.email_alias).ok_or(VerificationError::EmailAlias)?;
    domain_mail::send(state, subscriber, &domain, alias).await
}

/// Performs all checks, then returns the subscriber, the domain in the body, and the body.
async fn admitted<B>(
    state: &State,
    request: KeyedRequest,
    body: Result<Option<B>, Error>,
    name: impl Fn(&B) -> &str,
) -> Result<(i64, DomainName, B), Error> {
    let subscriber = run_keyed(state, request, |_, _, caller| Ok(caller.subscriber)).await?;
    // Unreachable for test keys, which have already been rejected.
    let subscriber = subscriber.ok_or(Error::NotInPlan)?;
    let body = body?.ok_or(VerificationError::NotJson)?;
    let domain = DomainName::parse(name(&body)).map_err(|_| VerificationError::DomainName)?;
    Ok((subscriber, domain, body))
}

/// Looks for the proof and verifies the domain.
///
/// # Errors
/// [`VerificationError`] if there is no valid proof, [`Error::Unavailable`] if the resolver doesn't
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
        // The domain or its parent was revoked while we were looking, so try again.
    }
}

fn count_refusal<T>(method: VerificationMethod, outcome: &Result<T, Error>) {
    if let Err(Error::Verification(_)) = outcome {
        metrics::count_proof(method, false);
    }
}

/// Facts that determine the verification method.
enum Facts {
    /// The domain is already verified.
    Verified,
    /// The domain is inherited from a verified parent, and the plan has room.
    Included(DomainCount),
    /// A proof had to be looked for. `no_room` is set if the domain could be inherited but exceeds
    /// the plan's limit.
    Looked { found: Result<DomainCount, Error>, no_room: Option<Error> },
}

impl Facts {
    /// Returns the method to report if verification fails.
    fn tried(&self, method: VerificationMethod) -> VerificationMethod {
        match self {
            Self::Looked { no_room: Some(_), .. } => VerificationMethod::Parent,
            _ => method,
        }
    }
}

/// Collects the facts. Looks for a proof only if that's necessary.
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
            // A proof for the domain itself would displace inherited domains, so look for one.
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

/// Picks the verification method. Returns `None` if the domain is already verified.
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

/// Verifies the domain if the plan has room. Returns `false` if this isn't possible any longer
/// because the parent domain or the code was revoked.
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

/// Status of a domain before a proof is looked for.
enum Status {
    Verified,
    /// The plan allows it to be inherited from a verified parent domain.
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

/// Counts a domain that could be inherited, and makes sure that the plan has room.
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
