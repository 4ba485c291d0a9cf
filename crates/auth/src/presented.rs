//! Decides on a request once its key has been looked up.

use std::net::IpAddr;
use std::sync::Arc;

use shell::{Credentials, KeyNumber};
use subtle::ConstantTimeEq as _;

use crate::{
    AuthError, Charge, Key, KeyStore, QuotaId, Quotas, Remaining, TooMany, digest, metrics,
};

/// State shared by all charges.
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

    /// Charges a request without a live key to the client address.
    pub fn take_from_address(
        &self,
        address: IpAddr,
        charge: &Charge,
        state: &mut Option<Remaining>,
    ) -> Result<Option<Remaining>, TooMany> {
        let paid = self.take(QuotaId::Address(address), charge, state);
        paid.inspect_err(|_| metrics::count_quota_refusal(metrics::NO_PLAN))
    }

    /// Charges a rejected key to the address. This costs at least one token, since guessing keys
    /// must never be free.
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

/// The result of looking up a request's key, where `H` is the type of the key's holder.
///
/// Unknown, revoked and expired keys are all represented by [`Refused`](Self::Refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<H> {
    /// The key works.
    Live {
        /// The key's row ID.
        id: i64,
        /// The bucket to charge, which is [`QuotaId::Key`] with the row ID, or [`QuotaId::Owner`]
        /// if all keys of an owner share a bucket.
        payer: QuotaId,
        /// The charge for the key.
        charge: Charge,
        /// The key's holder.
        holder: H,
    },
    /// The key isn't stored but accepted anyway, like a test key. Since anyone can make up such
    /// keys, the client address pays.
    Guest {
        /// The charge for the address.
        charge: Charge,
        /// The stand-in for a holder.
        holder: H,
    },
    /// The key doesn't work, so the client address pays.
    Refused,
}

/// The account or other data that a key belongs to.
pub trait Holder {
    /// Returns the plan code for metrics, if the key has a plan.
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

/// A caller that has been admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<H> {
    /// The key's holder.
    pub holder: H,
    /// The quota left, or `None` if the request was free.
    pub remaining: Option<Remaining>,
}

/// A well-formed key from a request that hasn't been looked up yet.
///
/// It doesn't borrow from the request, so it can be moved into the closure that reads the database.
/// There, the service looks up [`digest`](Self::digest) along with the data that it needs, and
/// passes the result to [`admit`](Self::admit). Since `admit` takes `self`, a request can't be
/// charged twice.
pub struct Presented {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) digest: [u8; 32],
    pub(crate) login: Option<String>,
    pub(crate) address: IpAddr,
    pub(crate) refused: Charge,
    /// Passes the ID of the key to the access log.
    pub(crate) number: KeyNumber,
}

impl Presented {
    /// Returns the key's digest, as stored in `api_key.digest`.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Returns the client address, which pays if the key doesn't.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Compares the key with `text` in constant time, ignoring case.
    pub fn is_text(&self, text: &str) -> bool {
        self.digest.ct_eq(&digest(text)).into()
    }

    /// Returns whether the login sent with the key is `owner`. True if no login was sent.
    pub(crate) fn fits_owner(&self, owner: &str) -> bool {
        self.login.as_ref().is_none_or(|login| login.as_bytes().ct_eq(owner.as_bytes()).into())
    }

    /// Admits or rejects a request once the key has been looked up.
    ///
    /// # Errors
    /// Returns [`AuthError::Credentials`] if the key was rejected, or [`AuthError::TooMany`] if the
    /// quota is used up.
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
