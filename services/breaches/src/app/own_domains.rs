//! A subscriber's own domains.

use std::net::IpAddr;
use std::time::Duration;

use auth::{QuotaId, Rate};
use database::{DatabaseError, Db};
use domain::DomainName;

use super::{domain_control, domain_mail, domain_verification, subscriber_plan};
use crate::error::{Error, VerificationError};
use crate::model::plan::Features;
use crate::model::verification::{EmailAlias, Proof, VerificationMethod};
use crate::state::State;
use crate::store::domain_controls::{self, Control};
use crate::store::{admin_events, domain_inheritance, turns};

/// Limit on proof lookups per subscriber, as (count, period). Each one contacts an external server.
const LOOKS: (u32, Duration) = (30, Duration::from_secs(60));

/// A row in the list of domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnDomain {
    pub name: String,
    pub verified: bool,
    /// Inherited from a parent domain.
    pub inherited: bool,
    /// Number of breached addresses, not counting those found only in spam lists. `None` if the
    /// domain isn't verified.
    pub addresses: Option<i64>,
    /// Number of addresses in stealer logs.
    pub captured: Captured,
}

impl OwnDomain {
    fn new(control: Control, plan: &Features) -> Self {
        let verified = control.is_verified();
        Self {
            verified,
            inherited: control.parent_id.is_some(),
            addresses: control.size_now.filter(|_| verified),
            captured: match (verified, plan.stealer_logs, control.captured) {
                (false, ..) => Captured::Unverified,
                (true, false, _) => Captured::NotInPlan,
                (true, true, None) => Captured::NotCounted,
                (true, true, Some(count)) => Captured::Counted(count),
            },
            name: control.domain,
        }
    }
}

/// Number of addresses in stealer logs, or the reason it isn't shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captured {
    /// As of the last count.
    Counted(i64),
    /// Not counted yet.
    NotCounted,
    /// The plan doesn't include stealer logs.
    NotInPlan,
    /// The domain isn't verified.
    Unverified,
}

/// A domain and the ways to prove control of it.
#[derive(Clone, Debug)]
pub struct DomainDetail {
    pub row: OwnDomain,
    pub proof: Proof,
}

/// Lists a subscriber's domains by name.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn domains(state: &State, subscriber: i64) -> Result<Vec<OwnDomain>, Error> {
    let now = state.clock().unix();
    let read = move |db: &mut Db| -> Result<_, DatabaseError> {
        let plan = subscriber_plan::current(db, subscriber, now)?.plan;
        Ok((domain_controls::all(db, subscriber)?, plan.features))
    };
    let (mut controls, plan) = state.pools().read(read).await?;
    controls.sort_by(|a, b| a.domain.cmp(&b.domain));
    Ok(controls.into_iter().map(|control| OwnDomain::new(control, &plan)).collect())
}

/// Adds a domain for the subscriber to verify.
///
/// # Errors
/// [`VerificationError::DomainName`] or [`VerificationError::TooManyPending`].
pub async fn add_domain(state: &State, subscriber: i64, name: &str) -> Result<DomainName, Error> {
    let domain = DomainName::parse(name).map_err(|_| VerificationError::DomainName)?;
    domain_control::proof(state, subscriber, &domain).await?;
    Ok(domain)
}

/// Looks up one of the subscriber's domains.
///
/// # Errors
/// [`Error::NotFound`] or a database error.
pub async fn domain_detail(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<DomainDetail, Error> {
    let rows = domains(state, subscriber).await?;
    let row = rows.into_iter().find(|row| row.name == domain.as_str()).ok_or(Error::NotFound)?;
    let proof = domain_control::known_proof(state, subscriber, domain).await?;
    Ok(DomainDetail { row, proof })
}

/// Verifies a domain by DNS, file or meta tag.
///
/// # Errors
/// [`VerificationError`], [`Error::TooMany`] or [`Error::Unavailable`].
pub async fn verify_domain_by(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    method: VerificationMethod,
) -> Result<(), Error> {
    let (count, period) = LOOKS;
    let id = QuotaId::Owner(subscriber).purpose("page-verify");
    let charged = state.quotas().check(id, Rate::per(count, period), 1);
    charged.map_err(|error| Error::TooMany(error.retry_after))?;
    domain_verification::verify(state, subscriber, domain, method).await
}

/// Emails a link that proves control of a domain.
///
/// # Errors
/// [`VerificationError::EmailAlias`], [`Error::TooMany`] or [`Error::Unavailable`].
pub async fn send_domain_mail(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    alias: &str,
    client: IpAddr,
) -> Result<(), Error> {
    let alias = EmailAlias::parse(alias).ok_or(VerificationError::EmailAlias)?;
    let id = QuotaId::Address(client).purpose("page-mail");
    let charged = state.quotas().check(id, Rate::per(30, Duration::from_secs(3600)), 1);
    charged.map_err(|error| Error::TooMany(error.retry_after))?;
    domain_mail::send(state, subscriber, domain, alias).await
}

/// Removes a domain and its inherited subdomains. Returns `false` if it didn't exist. Only the
/// removal of a verified domain is logged, because anyone can add and remove others without end.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn remove_domain(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<bool, Error> {
    let (name, now) = (domain.to_string(), state.clock().unix());
    let remove = move |db: &mut Db| -> Result<bool, DatabaseError> {
        turns::take_subscriber(db, subscriber)?;
        let is_verified = domain_controls::verified(db, subscriber, &name)?.is_some();
        match domain_inheritance::revoke(db, subscriber, &name) {
            Ok(()) if is_verified => {
                admin_events::add(db, now, "domain remove", &name, "by the subscriber")?;
                Ok(true)
            }
            Ok(()) => Ok(true),
            Err(DatabaseError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    };
    Ok(state.pools().write_as(Some(&subscriber.to_string()), remove).await?)
}
