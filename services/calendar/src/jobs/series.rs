//! Creates more events for series, so that the coming months are always covered.

use database::{DatabaseError, Db};
use jiff::Timestamp;

use crate::app::series::extend;
use crate::state::{Site, State};
use crate::store::{series, sql, transfer};

/// Creates the events that are due, in one transaction per series. Several replicas may do this:
/// they take turns, and each only creates what is still missing. A failure is logged, and the next
/// tick tries again.
pub async fn extend_series(state: &State) {
    loop {
        let (site, now) = (state.site.clone(), state.clock.now());
        let extend = move |db: &mut Db| extend_next(db, &site, now);
        match state.pools.write_patiently(DatabaseError::is_busy, extend).await {
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
    // While an export is being loaded, row counts must not change. They are compared at the end.
    if transfer::unfinished(db)?.is_some() {
        return Ok(None);
    }
    match series::due(db, now.as_second(), 1)?.pop() {
        Some(id) => extend(db, site, id, now).map(Some),
        None => Ok(None),
    }
}
