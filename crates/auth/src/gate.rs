//! The check that every request of a service with keys passes.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest};
use shell::{Credentials, KeyNumber, client_ip};
use tokio::sync::OnceCell;

use crate::presented::Ledger;
use crate::{
    AuthError, Caller, Finding, KeyStore, Policy, Presented, QuotaId, Quotas, Remaining, digest,
    is_well_formed,
};

/// Decides who calls and whether they still may, in this order:
///
/// 1. **Form.** What stands in the key's place and is no key is charged to the client address and
///    refused with 401. No key at all: the address pays where the policy grants that, else 401.
/// 2. **Look-up.** By this crate, or by the service together with its data.
/// 3. **Refused keys**, unknown, revoked, expired or of another owner than the login that was sent,
///    are charged to the address and refused with 401; once the address has used that up, with 429.
///    A refused key never turns into an anonymous call.
/// 4. **Quota.** A live key pays from its own bucket or that of its owner, whatever the address; 429
///    when it cannot.
///
/// # Two ways through
///
/// [`admit`](Self::admit), and the [`Caller`] extractor, do all of it and keep the caller with the
/// request. [`present_key`](Self::present_key) does the first step and gives a [`Presented`], which
/// goes into the closure that reads the database; the rest follows there, synchronously.
///
/// [`admit`](Self::admit) leaves the state of the bucket, as [`Remaining`], in the request's
/// extensions, also when the request is refused, for services whose every answer tells it.
#[derive(Clone)]
pub struct Gate {
    ledger: Arc<Ledger>,
    policy: Arc<dyn Policy>,
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

fn note(request: &HttpRequest, state: Option<Remaining>) {
    if let Some(state) = state {
        request.extensions_mut().insert(state);
    }
}

impl Gate {
    /// A gate, to be put into the app data as it is or in [`Data`](actix_web::web::Data).
    pub fn new(keys: KeyStore, quotas: Quotas, policy: impl Policy) -> Self {
        Self { ledger: Arc::new(Ledger { keys, quotas }), policy: Arc::new(policy) }
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

    /// The key that a request presents, for services that look it up themselves; none when it
    /// presents none.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] for what is no key, after it was charged to the address;
    /// [`AuthError::TooMany`] once the address cannot pay for more of these.
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

    /// The key that a request presents, for operations that need one.
    ///
    /// # Errors
    /// Those of [`present`](Self::present); `Missing` when there is none, which costs nothing.
    pub fn present_key(&self, request: &HttpRequest) -> Result<Presented, AuthError> {
        self.present(request)?.ok_or(AuthError::Credentials(Credentials::Missing))
    }

    /// Charges a request to the client address, whether it presents a key or not: operations that
    /// need none.
    ///
    /// # Errors
    /// [`AuthError::TooMany`]; `Missing` when the policy wants a key.
    pub fn admit_anonymous(&self, request: &HttpRequest) -> Result<Caller, AuthError> {
        let charge = self.policy.anonymous(request);
        let charge = charge.ok_or(AuthError::Credentials(Credentials::Missing))?;
        let mut state = None;
        let paid = self.ledger.take(QuotaId::Address(client_ip(request)), &charge, &mut state);
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
