//! Returns the caller's account.

use auth::Key;

use crate::state::State;
use crate::wire::account::{Account, AccountAnswer};

/// Returns the key owner's account, with its package's limits.
pub fn get_account(state: &State, key: &Key) -> AccountAnswer {
    let package = state.snapshot().package(key.plan.as_ref().map(|plan| plan.code.as_str()));
    AccountAnswer {
        account: Account {
            name: key.owner.clone(),
            package: package.code,
            depth: package.depth,
            scrolling: package.scrolling,
            valid_until: key.expires_at,
        },
    }
}
