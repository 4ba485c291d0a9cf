//! Authenticates and charges requests, for services that use API keys.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use shell::{Credentials, KeyNumber, client_ip};
use tokio::sync::OnceCell;

use crate::presented::Ledger;
use crate::{
    AuthError, Caller, Finding, KeyStore, Policy, Presented, QuotaId, Quotas, Remaining, TooMany,
    digest, is_well_formed, metrics,
};

/// Identifies the caller and charges the quota, in these steps:
///
/// 1. **Format.** A malformed key is charged to the client address and rejected with 401. A request
///    without a key is charged to the address if the policy allows this, and gets a 401 otherwise.
/// 2. **Lookup.** The key is looked up, either by this crate or by the service while it reads its
///    own data.
/// 3. **Rejected keys** (unknown, revoked, expired, or not owned by the login that came with it)
///    are charged to the address and rejected with 401, or with 429 if the address can't pay. A
///    rejected key is never treated as an anonymous request.
/// 4. **Quota.** A live key pays from its own bucket or its owner's, regardless of the address. If
///    it can't pay, the response is 429.
///
/// [`admit`](Self::admit) and the [`Caller`] extractor perform all four steps and store the caller
/// in the request. [`present_key`](Self::present_key) stops after the first step and returns a
/// [`Presented`]. The closure that reads the database uses it to do the remaining steps.
///
/// [`admit`](Self::admit) also stores the state of the bucket as [`Remaining`] in the request
/// extensions, even if the request is rejected. Some services report it in every response.
#[derive(Clone)]
pub struct Gate {
    ledger: Arc<Ledger>,
    policy: Arc<dyn Policy>,
}

/// The admitted caller, or the exhausted quota. Extractors run concurrently, and all but the first
/// wait here for the outcome.
type Decision = Rc<OnceCell<Result<Caller, TooMany>>>;

fn decision(request: &HttpRequest) -> Decision {
    let mut extensions = request.extensions_mut();
    if let Some(decision) = extensions.get::<Decision>() {
        return Rc::clone(decision);
    }
    let decision = Decision::default();
    extensions.insert(Rc::clone(&decision));
    decision
}

fn note(request: &HttpRequest, state: Option<Remaining>) {
    if let Some(state) = state {
        request.extensions_mut().insert(state);
    }
}

impl Gate {
    /// Creates a gate to put into the app data, with or without [`Data`](actix_web::web::Data).
    pub fn new(keys: KeyStore, quotas: Quotas, policy: impl Policy) -> Self {
        metrics::start();
        Self { ledger: Arc::new(Ledger { keys, quotas }), policy: Arc::new(policy) }
    }

    /// Identifies the caller and charges the request. Further calls for the same request return the
    /// same caller or quota error, but don't charge or count the request again.
    ///
    /// # Errors
    /// Returns an [`AuthError`], which converts to a [`Fault`](shell::Fault) for the client.
    pub async fn admit(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let decision = decision(request);
        let decided = decision.get_or_try_init(async || match self.decide(request).await {
            Ok(caller) => Ok(Ok(caller)),
            Err(AuthError::TooMany(refusal)) => Ok(Err(refusal)),
            Err(error) => Err(error),
        });
        decided.await?.clone().map_err(AuthError::TooMany)
    }

    async fn decide(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let Some(presented) = self.present(request)? else { return self.admit_anonymous(request) };
        let key = self.ledger.keys.look_up(&presented.digest).await?;
        let finding = match key.filter(|key| presented.fits_owner(&key.owner)) {
            Some(key) => {
                let charge = self.policy.keyed(request, &key);
                Finding::Live { id: key.id, payer: QuotaId::Key(key.id), charge, holder: key }
            }
            None => Finding::Refused,
        };
        let mut state = None;
        let admitted = presented.decide(finding, &mut state);
        note(request, state);
        admitted
            .map(|admitted| Caller { key: Some(admitted.holder), remaining: admitted.remaining })
    }

    /// Reads the key from the request, or returns `None` if it doesn't have one. For services that
    /// look up keys themselves.
    ///
    /// # Errors
    /// Returns [`AuthError::Credentials`] if the key is malformed. This is charged to the address.
    /// If the address can't pay, the error is [`AuthError::TooMany`].
    pub fn present(&self, request: &HttpRequest) -> Result<Option<Presented>, AuthError> {
        match self.policy.credential(request) {
            Ok(None) => Ok(None),
            Ok(Some(credential)) if is_well_formed(&credential.key) => Ok(Some(Presented {
                ledger: Arc::clone(&self.ledger),
                digest: digest(&credential.key),
                login: credential.login,
                address: client_ip(request),
                refused: self.policy.refused(request),
                number: KeyNumber::of(request),
            })),
            Ok(Some(_)) => Err(self.refuse(request, Credentials::Malformed)),
            Err(AuthError::Credentials(fault)) if fault != Credentials::Missing => {
                Err(self.refuse(request, fault))
            }
            Err(other) => Err(other),
        }
    }

    /// Reads the key from the request, for operations that require one.
    ///
    /// # Errors
    /// Returns the same errors as [`present`](Self::present). Without a key, the error is
    /// `Missing`, which isn't charged.
    pub fn present_key(&self, request: &HttpRequest) -> Result<Presented, AuthError> {
        self.present(request)?.ok_or(AuthError::Credentials(Credentials::Missing))
    }

    /// Charges the client address regardless of any key, for operations that don't use keys.
    ///
    /// # Errors
    /// Returns [`AuthError::TooMany`], or `Missing` if the policy requires a key.
    pub fn admit_anonymous(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let charge = self.policy.anonymous(request);
        let charge = charge.ok_or(AuthError::Credentials(Credentials::Missing))?;
        let mut state = None;
        let paid = self.ledger.take_from_address(client_ip(request), &charge, &mut state);
        note(request, state);
        Ok(Caller { key: None, remaining: paid.map_err(AuthError::TooMany)? })
    }

    /// Writes the last-used times of keys that are still in memory. Services call this when they
    /// stop.
    pub async fn write_last_uses(&self) {
        self.ledger.keys.flush_or_warn().await;
    }

    fn refuse(&self, request: &HttpRequest, fault: Credentials) -> AuthError {
        let (address, charge) = (client_ip(request), self.policy.refused(request));
        let mut state = None;
        let error = self.ledger.refuse(address, &charge, fault, &mut state);
        note(request, state);
        error
    }
}
