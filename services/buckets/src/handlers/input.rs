//! What handlers read from a caller.

use auth::Caller;

/// Code of the caller's plan, which is its package.
pub(super) fn plan_of(caller: &Caller) -> Option<&str> {
    let plan = caller.key.as_ref().and_then(|key| key.plan.as_ref());
    plan.map(|plan| plan.code.as_str())
}
