//! What one request reads.

use std::sync::Arc;

use database::{DatabaseError, Db};
use domain::Sha1Digest;

use crate::config::Settings;
use crate::model::{AccountKey, Catalogue, OptOut};
use crate::state::{Snapshot, State};
use crate::store::account_runs::RunView;

/// The server, and the snapshot and the time that hold for the whole of one request.
#[derive(Clone)]
pub struct RequestContext {
    /// The server.
    pub state: State,
    /// What is kept in memory.
    pub snapshot: Arc<Snapshot>,
    /// Unix seconds.
    pub now: i64,
    /// The runs of the transaction in which this request reads, if it has one.
    pub runs: Option<Arc<RunView>>,
}

impl RequestContext {
    /// The context of a request that begins now.
    pub fn new(state: &State) -> Self {
        Self {
            snapshot: state.snapshot(),
            now: state.clock().unix(),
            state: state.clone(),
            runs: None,
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

    /// What the owner of an address chose.
    pub fn opt_out(
        &self,
        db: &mut Db,
        digest: &Sha1Digest,
    ) -> Result<Option<OptOut>, DatabaseError> {
        self.snapshot.opt_outs.get(db, digest)
    }

    /// Whether an address with this key may have an opt-out, so that its digest matters.
    pub fn may_be_opted_out(&self, key: AccountKey) -> bool {
        self.snapshot.opt_outs.may_hold(key)
    }
}
