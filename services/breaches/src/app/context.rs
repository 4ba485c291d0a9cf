//! The context of a request.

use std::sync::Arc;

use database::{DatabaseError, Db};
use domain::Sha1Digest;

use crate::config::Settings;
use crate::model::{AccountKey, Catalogue, OptOut};
use crate::state::{Snapshot, State};
use crate::store::accounts::AccountView;

/// The server state, the snapshot and the time that one request uses.
#[derive(Clone)]
pub struct RequestContext {
    /// The server.
    pub state: State,
    /// The snapshot in memory.
    pub snapshot: Arc<Snapshot>,
    /// Unix seconds.
    pub now: i64,
    /// The view of the accounts in the request's transaction, if there is one.
    pub view: Option<Arc<AccountView>>,
}

impl RequestContext {
    /// Creates the context of a request that begins now.
    pub fn new(state: &State) -> Self {
        Self {
            snapshot: state.snapshot(),
            now: state.clock().unix(),
            state: state.clone(),
            view: None,
        }
    }

    /// Returns the settings of the service.
    pub fn settings(&self) -> &Settings {
        self.state.settings()
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.snapshot.answers.catalogue
    }

    /// Returns the choice that the owner of an address has made, if any.
    pub fn opt_out(
        &self,
        db: &mut Db,
        digest: &Sha1Digest,
    ) -> Result<Option<OptOut>, DatabaseError> {
        self.snapshot.opt_outs.get(db, digest)
    }

    /// Returns whether an address with this key may have an opt-out, in which case its digest must
    /// be computed.
    pub fn may_be_opted_out(&self, key: AccountKey) -> bool {
        self.snapshot.opt_outs.may_contain(key)
    }
}
