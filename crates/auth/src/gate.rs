//! The check that every request with a [`Caller`] passes.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use shell::{Credentials, client_ip};
use tokio::sync::OnceCell;

use crate::{AuthError, Caller, Key, KeyStore, Policy, QuotaId, Quotas, Rate, Remaining, TooMany};

/// Decides who calls and whether they still may.
///
/// 1. A key that is live is charged by its own quota, whatever the address.
/// 2. A key that is not, or something malformed in its place, is charged to the client address and
///    refused with 401; once the address has used that up, with 429. It never turns into an
///    anonymous call.
/// 3. No key: the quota of the address where the policy grants one, else 401.
///
/// The state of the bucket, as [`Remaining`], is left in the request's extensions, also when the
/// request is refused, for services whose every answer tells it.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

/// The caller of one request: extractors ask for it side by side, and all but one wait.
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

struct Inner {
    keys: KeyStore,
    quotas: Quotas,
    policy: Box<dyn Policy>,
}

impl Gate {
    /// A gate, to be put into the app data as it is or in `shell::Data`.
    pub fn new(keys: KeyStore, quotas: Quotas, policy: impl Policy) -> Self {
        Self { inner: Arc::new(Inner { keys, quotas, policy: Box::new(policy) }) }
    }

    /// The keys behind this gate.
    pub fn keys(&self) -> &KeyStore {
        &self.inner.keys
    }

    /// The buckets behind this gate.
    pub fn quotas(&self) -> &Quotas {
        &self.inner.quotas
    }

    /// Finds the caller and charges the request, once: asked again for the same request it gives
    /// the same caller.
    ///
    /// # Errors
    /// [`AuthError`], which is a [`Fault`](shell::Fault) for the client.
    pub async fn admit(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let decision = decision(request);
        decision.get_or_try_init(|| self.decide(request)).await.cloned()
    }

    async fn decide(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        match self.credentials(request)? {
            None => self.charge_anonymous(request),
            Some(text) => {
                let key = self.inner.keys.find(&text).await?;
                self.charge_key(request, key)
            }
        }
    }

    /// The text of the key in a request, for handlers that look it up together with their data;
    /// they go on with [`charge_key`](Self::charge_key) or
    /// [`charge_anonymous`](Self::charge_anonymous).
    ///
    /// # Errors
    /// Malformed credentials, after they were charged to the address.
    pub fn credentials(&self, request: &HttpRequest) -> Result<Option<String>, AuthError> {
        match self.inner.policy.credentials(request) {
            Err(AuthError::Credentials(fault)) if fault != Credentials::Missing => {
                Err(self.refuse(request, fault))
            }
            other => other,
        }
    }

    /// Charges a request whose key was looked up; a key that is none was refused.
    ///
    /// # Errors
    /// The refusal, or [`AuthError::TooMany`].
    pub fn charge_key(
        &self,
        request: &HttpRequest,
        key: Option<Arc<Key>>,
    ) -> Result<Caller, AuthError> {
        let Some(key) = key else { return Err(self.refuse(request, Credentials::Refused)) };
        let rate = self.inner.policy.quota(request, &key);
        let remaining = self.charge(request, QuotaId::Key(key.id), rate)?;
        Ok(Caller { key: Some(key), remaining })
    }

    /// Charges a request without a key to the client address.
    ///
    /// # Errors
    /// [`AuthError::TooMany`]; `Missing` when the policy wants a key.
    pub fn charge_anonymous(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let quota = self.inner.policy.anonymous(request);
        let quota = quota.ok_or(AuthError::Credentials(Credentials::Missing))?;
        let address = QuotaId::Address(client_ip(request));
        let remaining = self.charge(request, address, quota.into())?;
        Ok(Caller { key: None, remaining })
    }

    fn charge(
        &self,
        request: &HttpRequest,
        id: QuotaId,
        rate: Rate,
    ) -> Result<Option<Remaining>, AuthError> {
        match self.inner.policy.cost(request) {
            0 => Ok(None),
            cost => self.take(request, id, rate, cost).map(Some).map_err(AuthError::TooMany),
        }
    }

    /// A refused key costs one token even where the operation is free: guessing is not.
    fn refuse(&self, request: &HttpRequest, fault: Credentials) -> AuthError {
        let rate = self.inner.policy.refused(request).into();
        match self.take(request, QuotaId::Address(client_ip(request)), rate, 1) {
            Ok(_) => AuthError::Credentials(fault),
            Err(too_many) => AuthError::TooMany(too_many),
        }
    }

    fn take(
        &self,
        request: &HttpRequest,
        id: QuotaId,
        rate: Rate,
        cost: u32,
    ) -> Result<Remaining, TooMany> {
        let id = id.purpose(self.inner.policy.purpose(request));
        let outcome = self.inner.quotas.check(id, rate, cost);
        let state = outcome.unwrap_or_else(TooMany::remaining);
        request.extensions_mut().insert(state);
        outcome
    }
}
