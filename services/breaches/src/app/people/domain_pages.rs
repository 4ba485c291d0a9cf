//! The domains of a subscriber.

use std::net::IpAddr;
use std::time::Duration;

use auth::{QuotaId, Rate};
use database::{DatabaseError, Db};
use domain::DomainName;

use crate::app::domain_proof;
use crate::error::{Error, VerificationError};
use crate::model::verification::{EmailAlias, Proof, Way};
use crate::state::State;
use crate::store::domain_controls::{self, Control};
use crate::store::{admin_events, stealer_logs};

/// How many domains a subscriber may add on the pages.
const MOST: usize = 1_000;
/// Looks for proofs of one subscriber: each asks a server of somebody else.
const LOOKS: (u32, Duration) = (30, Duration::from_secs(60));

/// A domain in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRow {
    /// The domain.
    pub name: String,
    /// Whether it is verified.
    pub verified: bool,
    /// Whether another domain brought it.
    pub inherited: bool,
    /// Breached addresses without those in spam lists only.
    pub addresses: Option<i64>,
}

impl From<Control> for DomainRow {
    fn from(control: Control) -> Self {
        Self {
            verified: control.is_verified(),
            inherited: control.parent_id.is_some(),
            addresses: control.size_now,
            name: control.domain,
        }
    }
}

/// A domain with what proves control of it.
#[derive(Clone, Debug)]
pub struct DomainDetail {
    /// The domain.
    pub row: DomainRow,
    /// What proves control of it.
    pub proof: Proof,
    /// Captured addresses at it in stealer logs.
    pub captured: i64,
}

/// The domains of a subscriber, by name.
///
/// # Errors
/// Those of the database.
pub async fn domains(state: &State, subscriber: i64) -> Result<Vec<DomainRow>, Error> {
    let read = move |db: &mut Db| domain_controls::all(db, subscriber);
    let mut controls = state.pools().read(read).await?;
    controls.sort_by(|a, b| a.domain.cmp(&b.domain));
    Ok(controls.into_iter().map(DomainRow::from).collect())
}

/// Adds a domain, whose control is still to be proved.
///
/// # Errors
/// [`VerificationError::DomainName`]; [`VerificationError::NoRoom`] when there are too many.
pub async fn add_domain(state: &State, subscriber: i64, name: &str) -> Result<DomainName, Error> {
    let domain = DomainName::parse(name).map_err(|_| VerificationError::DomainName)?;
    if domains(state, subscriber).await?.len() >= MOST {
        return Err(VerificationError::NoRoom { max: 1_000, used: 1_000 }.into());
    }
    domain_proof::proof(state, subscriber, &domain).await?;
    Ok(domain)
}

/// A domain that a subscriber added.
///
/// # Errors
/// [`Error::NotFound`]; those of the database.
pub async fn domain_detail(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<DomainDetail, Error> {
    let name = domain.to_string();
    let read = move |db: &mut Db| -> Result<_, DatabaseError> {
        let all = domain_controls::all(db, subscriber)?;
        let Some(control) = all.into_iter().find(|control| control.domain == name) else {
            return Ok(None);
        };
        let captured = match control.is_verified() {
            true => stealer_logs::captured_at_domain(db, &name)?,
            false => 0,
        };
        Ok(Some((control, captured)))
    };
    let (control, captured) = state.pools().read(read).await?.ok_or(Error::NotFound)?;
    let proof = domain_proof::proof(state, subscriber, domain).await?;
    Ok(DomainDetail { row: control.into(), proof, captured })
}

/// Looks for a proof in one of the three ways that need no mail.
///
/// # Errors
/// [`VerificationError`], [`Error::TooMany`], [`Error::Unavailable`].
pub async fn verify_domain_by(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    way: Way,
) -> Result<(), Error> {
    let (count, period) = LOOKS;
    let id = QuotaId::Key(subscriber).purpose("page-verify");
    let charged = state.quotas().check(id, Rate::per(count, period), 1);
    charged.map_err(|error| Error::TooMany(error.retry_after))?;
    domain_proof::verify(state, subscriber, domain, way).await
}

/// Sends the mail whose link proves control of a domain.
///
/// # Errors
/// [`VerificationError::EmailAlias`], [`Error::TooMany`], [`Error::Unavailable`].
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
    domain_proof::send_mail(state, subscriber, domain, alias).await
}

/// Removes a domain with the subdomains that came with it; whether there was one.
///
/// # Errors
/// Those of the database.
pub async fn remove_domain(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<bool, Error> {
    let (name, now) = (domain.to_string(), state.clock().unix());
    let remove = move |db: &mut Db| -> Result<bool, DatabaseError> {
        match domain_controls::revoke(db, subscriber, &name) {
            Ok(()) => {
                admin_events::add(db, now, "domain remove", &name, "by the subscriber")?;
                Ok(true)
            }
            Err(DatabaseError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    };
    Ok(state.pools().write(remove).await?)
}
