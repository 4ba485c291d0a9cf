//! Keys of requests, from the look-up to the decision.

use std::net::IpAddr;
use std::sync::Arc;

use shell::{Credentials, KeyNumber};
use subtle::ConstantTimeEq as _;

use crate::{
    AuthError, Charge, Key, KeyStore, QuotaId, Quotas, Remaining, TooMany, digest, metrics,
};

/// The state shared by all charges.
pub(crate) struct Ledger {
    pub keys: KeyStore,
    pub quotas: Quotas,
}

impl Ledger {
    /// Takes the cost of a request from a bucket, and stores the state of the bucket in `state`.
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

    /// Charges a request without a live key to the bucket of the client address.
    pub fn take_from_address(
        &self,
        address: IpAddr,
        charge: &Charge,
        state: &mut Option<Remaining>,
    ) -> Result<Option<Remaining>, TooMany> {
        let paid = self.take(QuotaId::Address(address), charge, state);
        paid.inspect_err(|_| metrics::count_quota_refusal(metrics::NO_PLAN))
    }

    /// Charges a rejected key to the address. The cost is at least one token, because guessing keys
    /// must not be free.
    pub fn refuse(
        &self,
        address: IpAddr,
        charge: &Charge,
        fault: Credentials,
        state: &mut Option<Remaining>,
    ) -> AuthError {
        metrics::count_refused_key(fault);
        let charge = charge.clone().cost(charge.cost.max(1));
        match self.take_from_address(address, &charge, state) {
            Ok(_) => AuthError::Credentials(fault),
            Err(too_many) => AuthError::TooMany(too_many),
        }
    }
}

/// The result of looking up the key of a request. `H` is the type of the key's holder.
///
/// Unknown, revoked and expired keys are all [`Refused`](Self::Refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<H> {
    /// The key works.
    Live {
        /// The id of the key's row.
        id: i64,
        /// The bucket that is charged: [`QuotaId::Key`] with the id of the row, or
        /// [`QuotaId::Owner`] if all keys of an owner share one bucket.
        payer: QuotaId,
        /// The charge for the key.
        charge: Charge,
        /// The holder of the key.
        holder: H,
    },
    /// The key is not stored but is accepted, for example a test key. The client address pays,
    /// because anyone can invent such keys.
    Guest {
        /// The charge for the address.
        charge: Charge,
        /// The value that takes the place of a holder.
        holder: H,
    },
    /// The key does not work. The client address pays.
    Refused,
}

/// The holder of a key.
pub trait Holder {
    /// Returns the code of the plan, for metrics. `None` if the key does not have a plan.
    fn plan(&self) -> Option<&str>;
}

impl<H: Holder> Holder for Arc<H> {
    fn plan(&self) -> Option<&str> {
        (**self).plan()
    }
}

impl<H: Holder> Holder for Option<H> {
    fn plan(&self) -> Option<&str> {
        self.as_ref()?.plan()
    }
}

impl Holder for Key {
    fn plan(&self) -> Option<&str> {
        self.plan.as_ref().map(|plan| plan.code.as_str())
    }
}

/// A caller that was admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<H> {
    /// The holder of the key.
    pub holder: H,
    /// The remaining quota. `None` if the request was free.
    pub remaining: Option<Remaining>,
}

/// A well-formed key of a request, before it is looked up.
///
/// It does not borrow from the request, so it can be moved into the closure that reads the
/// database. The service looks up [`digest`](Self::digest) in the same statement as the data of the
/// request, and passes the result to [`admit`](Self::admit). That method consumes the key, so a
/// request is charged only once.
pub struct Presented {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) digest: [u8; 32],
    pub(crate) login: Option<String>,
    pub(crate) address: IpAddr,
    pub(crate) refused: Charge,
    /// Receives the id of the key, for the access log.
    pub(crate) number: KeyNumber,
}

impl Presented {
    /// Returns the digest of the key, as stored in `api_key.digest`.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Returns the client address, which is charged if the key is not.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns whether the key has this text, ignoring case. Runs in constant time.
    pub fn is_text(&self, text: &str) -> bool {
        self.digest.ct_eq(&digest(text)).into()
    }

    /// Returns whether the login that was sent with the key is its owner. True if no login was
    /// sent.
    pub(crate) fn fits_owner(&self, owner: &str) -> bool {
        self.login.as_ref().is_none_or(|login| login.as_bytes().ct_eq(owner.as_bytes()).into())
    }

    /// Admits or rejects a request after the key was looked up.
    ///
    /// # Errors
    /// Returns [`AuthError::Credentials`] for a rejected key, or [`AuthError::TooMany`].
    pub fn admit<H: Holder>(self, finding: Finding<H>) -> Result<Admitted<H>, AuthError> {
        self.decide(finding, &mut None)
    }

    /// Admits or rejects a request, and stores the state of the charged bucket in `state`.
    pub(crate) fn decide<H: Holder>(
        self,
        finding: Finding<H>,
        state: &mut Option<Remaining>,
    ) -> Result<Admitted<H>, AuthError> {
        let ledger = &self.ledger;
        match finding {
            Finding::Live { id, payer, charge, holder } => {
                ledger.keys.note_use(id);
                self.number.set(id);
                let remaining = ledger.take(payer, &charge, state).map_err(|too_many| {
                    metrics::count_quota_refusal(holder.plan().unwrap_or(metrics::NO_PLAN));
                    AuthError::TooMany(too_many)
                })?;
                Ok(Admitted { holder, remaining })
            }
            Finding::Guest { charge, holder } => {
                let paid = ledger.take_from_address(self.address, &charge, state);
                Ok(Admitted { holder, remaining: paid.map_err(AuthError::TooMany)? })
            }
            Finding::Refused => {
                Err(ledger.refuse(self.address, &self.refused, Credentials::Refused, state))
            }
        }
    }
}
