//! A key that was presented: from its look-up to the decision.

use std::net::IpAddr;
use std::sync::Arc;

use shell::{Credentials, KeyNumber};
use subtle::ConstantTimeEq as _;

use crate::{AuthError, Charge, KeyStore, QuotaId, Quotas, Remaining, TooMany, digest};

/// What charging needs, alike for every request.
pub(crate) struct Ledger {
    pub keys: KeyStore,
    pub quotas: Quotas,
}

impl Ledger {
    /// Takes what a request costs, and leaves the state of the bucket in `state`.
    pub fn take(
        &self,
        payer: QuotaId,
        charge: &Charge,
        state: &mut Option<Remaining>,
    ) -> Result<Option<Remaining>, TooMany> {
        if charge.cost == 0 {
            return Ok(None);
        }
        let outcome = self.quotas.check(charge.bucket(payer), charge.rate, charge.cost);
        *state = Some(outcome.unwrap_or_else(TooMany::remaining));
        outcome.map(Some)
    }

    /// Charges a refused key to the address; it costs one token even where the operation is free,
    /// because guessing is not.
    pub fn refuse(
        &self,
        address: IpAddr,
        charge: &Charge,
        fault: Credentials,
        state: &mut Option<Remaining>,
    ) -> AuthError {
        let charge = charge.clone().cost(charge.cost.max(1));
        match self.take(QuotaId::Address(address), &charge, state) {
            Ok(_) => AuthError::Credentials(fault),
            Err(too_many) => AuthError::TooMany(too_many),
        }
    }
}

/// What the look-up of a presented key found; `H` is what the service knows of its holder.
///
/// Unknown, revoked and expired keys are one case, [`Refused`](Self::Refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<H> {
    /// The key works.
    Live {
        /// Its row.
        id: i64,
        /// Whose bucket is charged: [`QuotaId::Key`] of the row, or [`QuotaId::Owner`] where all keys
        /// of an owner share one.
        payer: QuotaId,
        /// What the request costs the key.
        charge: Charge,
        /// Who holds it.
        holder: H,
    },
    /// The key is not on file and passes all the same, as test keys do; the client address pays,
    /// because anybody can invent such keys.
    Guest {
        /// What the request costs the address.
        charge: Charge,
        /// What stands for the holder.
        holder: H,
    },
    /// The key does not work; the client address pays.
    Refused,
}

/// A caller that passed, with what the look-up knew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<H> {
    /// Who holds the key.
    pub holder: H,
    /// What is left of the quota; none where the request cost nothing.
    pub remaining: Option<Remaining>,
}

/// A well-formed key that a request presented, before it was looked up.
///
/// It holds all that the decision needs and nothing of the request, so it can be moved to another
/// thread and into the closure that reads the database. It is used up by the decision: a request is
/// charged once.
///
/// # A look-up of the service's own
///
/// A service that reads the key together with the data of the request, in one statement, passes
/// what it found to [`admit_with`](Self::admit_with); the order of checks and charges stays that of
/// the [`Gate`](crate::Gate).
///
/// ```
/// use actix_web::HttpRequest;
/// use auth::{AuthError, Charge, Finding, Gate, Presented, Quota, QuotaId};
/// use database::{DatabaseError, Db, Pools};
///
/// #[derive(Clone, Copy)]
/// enum Operation {
///     Search,
///     DomainSearch,
/// }
///
/// struct Subscriber {
///     per_minute: u32,
/// }
///
/// #[derive(Debug, thiserror::Error)]
/// enum Error {
///     #[error(transparent)]
///     Auth(#[from] AuthError),
///     #[error(transparent)]
///     Database(#[from] DatabaseError),
///     #[error("not found")]
///     NotFound,
/// }
///
/// /// What a request costs the key of a subscriber.
/// fn charge(operation: Operation, domain: &str, subscriber: &Subscriber) -> Charge {
///     let replicas = 2;
///     match operation {
///         Operation::Search => Quota::per_minute(subscriber.per_minute).shared_by(replicas).into(),
///         Operation::DomainSearch => Charge::from(Quota::per_minute(10).shared_by(replicas))
///             .purpose("domain-search")
///             .named(domain),
///     }
/// }
///
/// /// Key, subscription and account in one statement.
/// fn read_all(
///     db: &mut Db,
///     digest: &[u8; 32],
/// ) -> Result<Option<(i64, Subscriber, Option<String>)>, DatabaseError> {
///     # let _ = (db, digest);
///     // A join of the table api_key with those of the service.
///     Ok(None)
/// }
///
/// async fn search(gate: &Gate, pools: &Pools, request: HttpRequest) -> Result<String, Error> {
///     // The form of the key: 401 here for none and for something that is no key.
///     let presented: Presented = gate.present_key(&request)?;
///     pools
///         .read(move |db| {
///             let mut account = None;
///             let admitted = presented.admit_with(|presented| {
///                 let Some((id, subscriber, found)) = read_all(db, presented.digest())? else {
///                     // Test keys are not on file: the address pays for them.
///                     return Ok::<_, Error>(match presented.is_text(&"0".repeat(32)) {
///                         true => Finding::Guest {
///                             charge: Charge::from(Quota::per_minute(600)).purpose("test"),
///                             holder: Subscriber { per_minute: 0 },
///                         },
///                         false => Finding::Refused,
///                     });
///                 };
///                 account = found;
///                 let charge = charge(Operation::Search, "", &subscriber);
///                 Ok(Finding::Live { id, payer: QuotaId::Key(id), charge, holder: subscriber })
///             })?;
///             // Here the caller is known and has paid: rules of the plan, then the data.
///             let _ = admitted.holder.per_minute;
///             account.ok_or(Error::NotFound)
///         })
///         .await
/// }
/// ```
pub struct Presented {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) digest: [u8; 32],
    pub(crate) login: Option<String>,
    pub(crate) address: IpAddr,
    pub(crate) refused: Charge,
    /// Where the access log finds the number of the key.
    pub(crate) number: KeyNumber,
}

impl Presented {
    /// The digest of the key, as `api_key.digest` holds it.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The address that pays where the key does not.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Whether the key has this text, in any case of its letters; takes as long for any answer.
    pub fn is_text(&self, text: &str) -> bool {
        self.digest.ct_eq(&digest(text)).into()
    }

    /// Whether the key, if it is this owner's, fits the login that was sent with it. A look-up
    /// answers [`Finding::Refused`] where it does not.
    pub fn fits_owner(&self, owner: &str) -> bool {
        self.login.as_ref().is_none_or(|login| login.as_bytes().ct_eq(owner.as_bytes()).into())
    }

    /// Decides about a key that was looked up.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] for a refused key, [`AuthError::TooMany`].
    pub fn admit<H>(self, finding: Finding<H>) -> Result<Admitted<H>, AuthError> {
        self.decide(finding, &mut None)
    }

    /// Looks the key up and decides.
    ///
    /// # Errors
    /// Those of the look-up, for which nothing is charged; else those of [`admit`](Self::admit).
    pub fn admit_with<H, E: From<AuthError>>(
        self,
        look_up: impl FnOnce(&Self) -> Result<Finding<H>, E>,
    ) -> Result<Admitted<H>, E> {
        let finding = look_up(&self)?;
        Ok(self.admit(finding)?)
    }

    /// The one place that decides about keys; leaves the state of the charged bucket in `state`.
    pub(crate) fn decide<H>(
        self,
        finding: Finding<H>,
        state: &mut Option<Remaining>,
    ) -> Result<Admitted<H>, AuthError> {
        let (payer, charge, holder) = match finding {
            Finding::Live { id, payer, charge, holder } => {
                self.ledger.keys.note_use(id);
                self.number.set(id);
                (payer, charge, holder)
            }
            Finding::Guest { charge, holder } => (QuotaId::Address(self.address), charge, holder),
            Finding::Refused => {
                let fault = Credentials::Refused;
                return Err(self.ledger.refuse(self.address, &self.refused, fault, state));
            }
        };
        let remaining = self.ledger.take(payer, &charge, state).map_err(AuthError::TooMany)?;
        Ok(Admitted { holder, remaining })
    }
}
