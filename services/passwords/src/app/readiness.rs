//! Whether the service can answer, and what made it doubt.

use domain::HashPrefix;

use crate::metrics;
use crate::model::Kind;
use crate::state::State;
use crate::store::BucketProblem;

/// Notes that a bucket could not be served. The prefix stays out of the log.
pub fn note_failure(state: &State, kind: Kind, prefix: HashPrefix, problem: &BucketProblem) {
    state.set_failing(kind, Some(prefix));
    metrics::count_failure(kind);
    log::error!("a bucket of the {} corpus cannot be served: {problem}", kind.label());
}

/// Whether the service can do its work.
///
/// # Errors
/// No corpus is loaded, or a bucket that failed still cannot be read.
pub fn readiness(state: &State) -> Result<(), String> {
    let mut loaded = false;
    for kind in Kind::ALL {
        let Some(snapshot) = state.snapshot(kind) else { continue };
        loaded = true;
        let Some(prefix) = state.failing(kind) else { continue };
        // A disk may recover: the bucket that failed is tried again.
        if snapshot.corpus().sound_bytes(prefix, &mut Vec::new()).is_err() {
            return Err(format!("the {} corpus cannot be read", kind.label()));
        }
        state.set_failing(kind, None);
    }
    if loaded { Ok(()) } else { Err("no corpus is loaded".to_owned()) }
}
