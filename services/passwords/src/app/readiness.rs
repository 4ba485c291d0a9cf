//! Service readiness.

use domain::HashPrefix;

use crate::metrics;
use crate::model::Kind;
use crate::state::State;
use crate::store::BucketProblem;

/// Records that a bucket couldn't be served: marks it as failing, counts it, and logs the problem
/// with the request ID. The prefix is kept out of the log.
pub fn note_failure(
    state: &State,
    kind: Kind,
    prefix: HashPrefix,
    problem: &BucketProblem,
    id: &str,
) {
    state.set_failing(kind, prefix);
    metrics::count_failure(kind);
    let kind = kind.label();
    log::error!(request_id = id; "a bucket of the {kind} corpus cannot be served: {problem}");
}

/// Checks that the service can answer requests.
///
/// # Errors
/// Returns an error if no corpus is loaded, if an activated corpus isn't usable and no earlier one
/// can be used instead, or if a bucket that failed still can't be read.
pub fn readiness(state: &State) -> Result<(), String> {
    let mut loaded = false;
    for kind in Kind::ALL {
        let Some(snapshot) = state.snapshot(kind) else {
            if state.is_unusable(kind) {
                return Err(format!("the {} corpus cannot be used", kind.label()));
            }
            continue;
        };
        loaded = true;
        let Some(prefix) = state.failing(kind) else { continue };
        // Try the failed bucket again, because the disk may have recovered.
        if snapshot.corpus().sound_bytes(prefix, &mut Vec::new()).is_err() {
            return Err(format!("the {} corpus cannot be read", kind.label()));
        }
        state.clear_failing(kind, prefix);
    }
    if loaded { Ok(()) } else { Err("no corpus is loaded".to_owned()) }
}
