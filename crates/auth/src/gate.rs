//! The check of every request to a service with keys.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use shell::{Credentials, KeyNumber, client_ip};
use tokio::sync::OnceCell;

use crate::presented::Ledger;
use crate::{
    AuthError, Caller, Finding, KeyStore, Policy, Presented, QuotaId, Quotas, Remaining, digest,
    is_well_formed, metrics,
};

/// Identifies the caller and checks the quota, in this order:
///
/// 1. **Form.** A malformed key is charged to the client address and refused with 401. Without a
///    key, the address pays if the policy allows it, else the response is 401.
/// 2. **Look-up.** By this crate, or by the service together with its data.
/// 3. **Refused keys** (unknown, revoked, expired, or of another owner than the login sent) are
///    charged to the address and refused with 401, or with 429 if the address cannot pay. A refused
///    key is never treated as an anonymous call.
/// 4. **Quota.** A live key pays from its own bucket or that of its owner, from any address. If it
///    cannot, the response is 429.
///
/// [`admit`](Self::admit) and the [`Caller`] extractor do all four steps and store the caller in
/// the request. [`present_key`](Self::present_key) does the first step and returns a [`Presented`]
/// for the closure that reads the database, which does the others.
///
/// [`admit`](Self::admit) stores the state of the bucket as [`Remaining`] in the extensions of the
/// request, even if it is refused, for services that report it in every response.
#[derive(Clone)]
pub struct Gate {
    ledger: Arc<Ledger>,
    policy: Arc<dyn Policy>,
}

/// The caller of one request. Concurrent extractors wait for the one that computes it.
type Decision = Rc<OnceCell<Caller>>;

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
    /// Creates a gate for the app data, bare or in [`Data`](actix_web::web::Data).
    pub fn new(keys: KeyStore, quotas: Quotas, policy: impl Policy) -> Self {
        metrics::start();
        Self { ledger: Arc::new(Ledger { keys, quotas }), policy: Arc::new(policy) }
    }

    /// Finds the caller and charges the request. Later calls for the same request return the same caller
    /// and charge nothing.
    ///
    /// # Errors
    /// [`AuthError`], which is a [`Fault`](shell::Fault) for the client.
    pub async fn admit(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let decision = decision(request);
        decision.get_or_try_init(|| self.decide(request)).await.cloned()
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

    /// Reads the key of a request, for services that look it up themselves; `None` if there is no
    /// key.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] for a malformed key, which is charged to the address;
    /// [`AuthError::TooMany`] if the address cannot pay.
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

    /// Reads the key of a request, for operations that need one.
    ///
    /// # Errors
    /// Those of [`present`](Self::present); `Missing` without a key, which is free.
    pub fn present_key(&self, request: &HttpRequest) -> Result<Presented, AuthError> {
        self.present(request)?.ok_or(AuthError::Credentials(Credentials::Missing))
    }

    /// Charges a request to the client address, with or without a key, for operations that need none.
    ///
    /// # Errors
    /// [`AuthError::TooMany`]; `Missing` if the policy requires a key.
    pub fn admit_anonymous(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let charge = self.policy.anonymous(request);
        let charge = charge.ok_or(AuthError::Credentials(Credentials::Missing))?;
        let mut state = None;
        let paid = self.ledger.take_from_address(client_ip(request), &charge, &mut state);
        note(request, state);
        Ok(Caller { key: None, remaining: paid.map_err(AuthError::TooMany)? })
    }

    fn refuse(&self, request: &HttpRequest, fault: Credentials) -> AuthError {
        let (address, charge) = (client_ip(request), self.policy.refused(request));
        let mut state = None;
        let error = self.ledger.refuse(address, &charge, fault, &mut state);
        note(request, state);
        error
    }
}
