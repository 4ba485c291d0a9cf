//! Notices for subscribers whose own address has been exposed.

use database::Db;

use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::store::notices;

/// Number of subscribers per transaction.
const BATCH: i64 = 200;

/// Posts notices to subscribers whose own address is in a new breach or paste.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn notify_listeners(state: &State) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let batch = state.pools().read(move |db| notices::listeners(db, after, BATCH)).await?;
        let Some((last, _)) = batch.last() else { return Ok(()) };
        after = *last;
        let (now, snapshot) = (state.clock().unix(), state.snapshot());
        let post = move |db: &mut Db| {
            app::post_listener_notices(db, &snapshot.answers.catalogue, &batch, now)
        };
        state.pools().write(post).await?;
    }
}
