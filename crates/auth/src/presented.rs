//! Presented keys, from the look-up to the decision.

use std::net::IpAddr;
use std::sync::Arc;

use shell::{Credentials, KeyNumber};
use subtle::ConstantTimeEq as _;

use crate::{
    AuthError, Charge, Key, KeyStore, QuotaId, Quotas, Remaining, TooMany, digest, metrics,
};

/// The shared state of all charges.
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

    /// Takes the cost of a request without a live key from the bucket of the address.
    pub fn take_from_address(
        &self,
        address: IpAddr,
        charge: &Charge,
        state: &mut Option<Remaining>,
    ) -> Result<Option<Remaining>, TooMany> {
        let paid = self.take(QuotaId::Address(address), charge, state);
        paid.inspect_err(|_| metrics::count_quota_refusal(metrics::NO_PLAN))
    }

    /// Charges a refused key to the address. It costs at least one token, because guessing keys must not
    /// be free.
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

/// The result of looking up a presented key. `H` is the type of its holder.
///
/// Unknown, revoked and expired keys are all [`Refused`](Self::Refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<H> {
    /// The key works.
    Live {
        /// The id of its row.
        id: i64,
        /// The bucket that is charged: [`QuotaId::Key`] of the row, or [`QuotaId::Owner`] if all keys of an
        /// owner share one.
        payer: QuotaId,
        /// The cost of the request for the key.
        charge: Charge,
        /// The holder of the key.
        holder: H,
    },
    /// The key is not stored and passes nevertheless, like a test key. The client address pays, because
    /// such keys can be invented.
    Guest {
        /// The cost of the request for the address.
        charge: Charge,
        /// The substitute for the holder.
        holder: H,
    },
    /// The key does not work. The client address pays.
    Refused,
}

/// The holder of a key.
pub trait Holder {
    /// The code of the plan, for metrics; `None` without a plan.
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

/// A caller that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<H> {
    /// The holder of the key.
    pub holder: H,
    /// The rest of the quota; `None` if the request was free.
    pub remaining: Option<Remaining>,
}

/// A well-formed key of a request, before its look-up.
///
/// It does not borrow from the request, so it can be moved into the closure that reads the
/// database. The service looks up [`digest`](Self::digest), in one statement with the data of the
/// request, and passes the result to [`admit`](Self::admit), which consumes the key: a request is
/// charged once.
pub struct Presented {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) digest: [u8; 32],
    pub(crate) login: Option<String>,
    pub(crate) address: IpAddr,
    pub(crate) refused: Charge,
    /// Passes the id of the key to the access log.
    pub(crate) number: KeyNumber,
}

impl Presented {
    /// The digest of the key, in the form of `api_key.digest`.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The client address, which pays if the key does not.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns whether the key has this text in any case. Takes constant time.
    pub fn is_text(&self, text: &str) -> bool {
        self.digest.ct_eq(&digest(text)).into()
    }

    /// Returns whether the login that was sent with the key, if any, is its owner.
    pub(crate) fn fits_owner(&self, owner: &str) -> bool {
        self.login.as_ref().is_none_or(|login| login.as_bytes().ct_eq(owner.as_bytes()).into())
    }

    /// Decides about a key after its look-up.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] for a refused key, [`AuthError::TooMany`].
    pub fn admit<H: Holder>(self, finding: Finding<H>) -> Result<Admitted<H>, AuthError> {
        self.decide(finding, &mut None)
    }

    /// Decides about a key and stores the state of the charged bucket in `state`.
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
