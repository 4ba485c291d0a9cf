//! Carries a request's key from the lookup to the decision.

use std::net::IpAddr;
use std::sync::Arc;

use shell::{Credentials, KeyNumber};
use subtle::ConstantTimeEq as _;

use crate::{
    AuthError, Charge, Key, KeyStore, QuotaId, Quotas, Remaining, TooMany, digest, metrics,
};

/// State that all charges share.
pub(crate) struct Ledger {
    pub keys: KeyStore,
    pub quotas: Quotas,
}

impl Ledger {
    /// Takes a request's cost from a bucket and stores the bucket's state in `state`.
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

    /// Charges a rejected key to the address. This always costs at least one token, because
    /// guessing keys must not be free.
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

/// Result of looking up a request's key. `H` is the type of the key's holder.
///
/// Unknown, revoked and expired keys all become [`Refused`](Self::Refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<H> {
    /// The key works.
    Live {
        /// The key's row ID.
        id: i64,
        /// The bucket to charge. Use [`QuotaId::Key`] with the row ID, or [`QuotaId::Owner`] if an
        /// owner's keys share one bucket.
        payer: QuotaId,
        /// The charge for the key.
        charge: Charge,
        /// The key's holder.
        holder: H,
    },
    /// The key isn't stored but we accept it anyway, for example a test key. The client address
    /// pays, because anyone can make up such keys.
    Guest {
        /// The charge for the address.
        charge: Charge,
        /// Used instead of a holder.
        holder: H,
    },
    /// The key does not work. The client address pays.
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

/// A caller that was let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<H> {
    /// The key's holder.
    pub holder: H,
    /// Quota left, or `None` if the request was free.
    pub remaining: Option<Remaining>,
}

/// A well-formed key from a request, before it is looked up.
///
/// It doesn't borrow from the request, so it can move into the closure that reads the database.
/// There, the service looks up [`digest`](Self::digest) together with the data it needs and passes
/// the result to [`admit`](Self::admit), which takes `self`. That way a request can't be charged
/// twice.
pub struct Presented {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) digest: [u8; 32],
    pub(crate) login: Option<String>,
    pub(crate) address: IpAddr,
    pub(crate) refused: Charge,
    /// Passes the key's ID to the access log.
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

    /// Returns whether the login sent with the key matches its owner's. True if there was no login.
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

    /// Admits or rejects a request and stores the charged bucket's state in `state`.
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
