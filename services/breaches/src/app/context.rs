//! Per-request context.

use std::sync::Arc;

use database::{DatabaseError, Db};
use domain::Sha1Digest;

use crate::config::Settings;
use crate::model::{AccountKey, Catalogue, OptOut};
use crate::state::{Snapshot, State};
use crate::store::accounts::AccountView;
use crate::store::known_keys::KnownKey;

/// Server state, snapshot and time for a single request.
#[derive(Clone)]
pub struct RequestContext {
    pub state: State,
    /// Snapshot taken at the start of the request.
    pub snapshot: Arc<Snapshot>,
    /// Unix seconds.
    pub now: i64,
    /// View of the accounts within the request's transaction, if any.
    pub view: Option<Arc<AccountView>>,
    /// The request's API key, as far as it is cached.
    pub known_key: KnownKey,
}

impl RequestContext {
    /// Creates the context for a request that starts now.
    pub fn new(state: &State) -> Self {
        Self {
            snapshot: state.snapshot(),
            now: state.clock().unix(),
            state: state.clone(),
            view: None,
            known_key: KnownKey::default(),
        }
    }

    pub fn settings(&self) -> &Settings {
        self.state.settings()
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.snapshot.answers.catalogue
    }

    /// Looks up the opt-out of an address, if any.
    pub fn opt_out(
        &self,
        db: &mut Db,
        digest: &Sha1Digest,
    ) -> Result<Option<OptOut>, DatabaseError> {
        self.snapshot.opt_outs.get(db, digest)
    }

    /// Checks quickly by key. If this returns `true`, compute the digest and call
    /// [`Self::opt_out`].
    pub fn may_be_opted_out(&self, key: AccountKey) -> bool {
        self.snapshot.opt_outs.may_contain(key)
    }
}
