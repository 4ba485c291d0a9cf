//! Moves accounts from runs to the account table after a load.

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::retry::RetryingConnection;
use crate::store::{accounts, load_connections};

/// Compacts the accounts. Moves up to twice as many accounts as were loaded, so that each load does
/// its share of the work.
pub fn compact(context: &JobContext, loaded: i64) -> Result<(), JobError> {
    if context.read(|db| Ok(accounts::is_compact(db)?))? {
        return Ok(());
    }
    let mut connection = RetryingConnection::open(&context.pools)?;
    let memory = context.settings.load_memory_mb;
    load_connections::set_cache(connection.db(), (memory * 1_024 / 2).max(2_048))?;
    while connection.transaction(|db| Ok(accounts::join_two(db, memory)?))? {}
    let mut left = loaded.saturating_mul(2);
    while left > 0
        && let Some(moved) = connection.transaction(|db| Ok(accounts::move_some(db)?))?
    {
        left -= moved;
    }
    Ok(())
}
