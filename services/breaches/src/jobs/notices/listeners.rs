//! Notices for subscribers whose own addresses are in breaches and pastes.

use database::Db;

use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::store::notices;

/// Subscribers in one transaction.
const BATCH: i64 = 200;

/// Tells subscribers of breaches and pastes that their own addresses are in.
///
/// # Errors
/// Those of the database.
pub async fn tell_listeners(state: &State) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let batch = state.pools().read(move |db| notices::listeners(db, after, BATCH)).await?;
        let Some((last, _)) = batch.last() else { return Ok(()) };
        after = *last;
        let (now, snapshot) = (state.clock().unix(), state.snapshot());
        let tell =
            move |db: &mut Db| app::tell_listeners(db, &snapshot.answers.catalogue, &batch, now);
        state.pools().write(tell).await?;
    }
}
