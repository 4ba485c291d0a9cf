//! Operations that verify domains by API.

use domain::DomainName;

use super::admission::run_keyed;
use super::domain_proof;
use super::keyed_request::KeyedRequest;
use crate::error::{Error, VerificationError};
use crate::model::verification::{EmailAlias, VerificationMethod};
use crate::state::State;
use crate::wire::{DnsToken, DomainRequest, MailRequest};

/// The token of a domain, for a TXT record.
///
/// # Errors
/// Returns the errors of the checks, and [`VerificationError::DomainName`].
pub async fn generate_dns_token(
    state: &State,
    request: KeyedRequest,
    body: Option<DomainRequest>,
) -> Result<DnsToken, Error> {
    let (subscriber, domain) = admitted(state, request, body.map(|body| body.domain_name)).await?;
    let proof = domain_proof::proof(state, subscriber, &domain).await?;
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
    domain_proof::verify(state, subscriber, &domain, VerificationMethod::Dns).await
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
    domain_proof::send_mail(state, subscriber, &domain, alias).await
}

/// The calling subscriber and the domain of the body.
async fn admitted(
    state: &State,
    request: KeyedRequest,
    name: Option<String>,
) -> Result<(i64, DomainName), Error> {
    let subscriber = run_keyed(state, request, |_, _, caller| Ok(caller.subscriber)).await?;
    // Test keys are refused earlier.
    let subscriber = subscriber.ok_or(Error::NotInPlan)?;
    let name = name.ok_or(VerificationError::NotJson)?;
    let domain = DomainName::parse(&name).map_err(|_| VerificationError::DomainName)?;
    Ok((subscriber, domain))
}
