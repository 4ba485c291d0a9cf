//! Creates further events of series, so that the coming months have them.

use database::{DatabaseError, Db};
use jiff::Timestamp;

use crate::app::series::extend;
use crate::state::{Site, State};
use crate::store::{series, sql, transfer};

/// Creates the events that are due. Each series has a transaction of its own. Replicas take turns,
/// and each creates only what does not exist yet. A failure is logged, and the next tick retries.
pub async fn extend_series(state: &State) {
    loop {
        let (site, now) = (state.site.clone(), state.clock.now());
        match state.pools.write(move |db| extend_next(db, &site, now)).await {
            Ok(None) => return,
            Ok(Some(0)) => {}
            Ok(Some(made)) => log::info!("{made} events of a series created"),
            Err(error) => {
                log::warn!("cannot create events of a series: {error}");
                return;
            }
        }
    }
}

/// Extends the next series that is due. Returns the number of new events, or `None` if no series is
/// due.
fn extend_next(db: &mut Db, site: &Site, now: Timestamp) -> Result<Option<usize>, DatabaseError> {
    sql::one_writer(db)?;
    // The load of an export compares the numbers of rows at its end.
    if transfer::unfinished(db)?.is_some() {
        return Ok(None);
    }
    match series::due(db, now.as_second(), 1)?.pop() {
        Some(id) => extend(db, site, id, now).map(Some),
        None => Ok(None),
    }
}
