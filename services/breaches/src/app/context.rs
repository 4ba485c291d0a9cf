//! The context of a request.

use std::sync::Arc;

use database::{DatabaseError, Db};
use domain::Sha1Digest;

use crate::config::Settings;
use crate::model::{AccountKey, Catalogue, OptOut};
use crate::state::{Snapshot, State};
use crate::store::accounts::AccountView;

/// The server, with the snapshot and the time of one request.
#[derive(Clone)]
pub struct RequestContext {
    /// The server.
    pub state: State,
    /// The snapshot in memory.
    pub snapshot: Arc<Snapshot>,
    /// Unix seconds.
    pub now: i64,
    /// The view of the accounts in the request's transaction, if it has one.
    pub view: Option<Arc<AccountView>>,
}

impl RequestContext {
    /// The context of a request that begins now.
    pub fn new(state: &State) -> Self {
        Self {
            snapshot: state.snapshot(),
            now: state.clock().unix(),
            state: state.clone(),
            view: None,
        }
    }

    /// The settings of the service.
    pub fn settings(&self) -> &Settings {
        self.state.settings()
    }

    /// The catalogue.
    pub fn catalogue(&self) -> &Catalogue {
        &self.snapshot.answers.catalogue
    }

    /// The choice of the owner of an address.
    pub fn opt_out(
        &self,
        db: &mut Db,
        digest: &Sha1Digest,
    ) -> Result<Option<OptOut>, DatabaseError> {
        self.snapshot.opt_outs.get(db, digest)
    }

    /// Returns whether an address with this key may have an opt-out, so its digest is needed.
    pub fn may_be_opted_out(&self, key: AccountKey) -> bool {
        self.snapshot.opt_outs.may_contain(key)
    }
}
