//! Adds events to series, so that the coming months are always covered.

use database::{DatabaseError, Db};
use jiff::Timestamp;

use crate::app::series::expand;
use crate::app::series_extension::extend;
use crate::model::series::Series;
use crate::state::{Site, State};
use crate::store::{series_due, sql, transfer};

/// Creates the events that are due, in one transaction per series. Several replicas can run this
/// concurrently, because they take turns and each one only creates events that are still missing.
/// Failures are logged, and the next tick retries.
pub async fn extend_series(state: &State) {
    loop {
        let (site, now) = (state.site.clone(), state.clock.now());
        let extend = move |db: &mut Db| extend_next(db, &site, now);
        match state.pools.write_with_retries(DatabaseError::is_busy, extend).await {
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

/// Number of series to read and expand at a time.
const AT_ONCE: i64 = 50;

/// Marks series as due if they lack events because SERIES_AHEAD has been raised since they were
/// scheduled. Returns false if the database failed before all series had been checked.
pub async fn review_series(state: &State) -> bool {
    let mut last = 0;
    loop {
        let (site, now, from) = (state.site.clone(), state.clock.now(), last);
        let find = move |db: &mut Db| lacking_events(db, &site, from, now);
        let found = match state.pools.read(find).await {
            Ok((_, None)) => return true,
            Ok((lacking, Some(id))) => {
                last = id;
                lacking
            }
            Err(error) => {
                log::warn!("cannot find series that need more events: {error}");
                return false;
            }
        };
        if found.is_empty() {
            continue;
        }
        let make_due = move |db: &mut Db| {
            sql::one_writer(db)?;
            found.iter().try_for_each(|id| series_due::make_due(db, *id, now.as_second()))
        };
        if let Err(error) = state.pools.write_with_retries(DatabaseError::is_busy, make_due).await {
            log::warn!("cannot make series due: {error}");
            return false;
        }
    }
}

/// Reads some series that aren't due yet, ordered by id and starting after `last`. Returns the
/// series that lack events, along with the id of the last series read.
fn lacking_events(
    db: &mut Db,
    site: &Site,
    last: i64,
    now: Timestamp,
) -> Result<(Vec<i64>, Option<i64>), DatabaseError> {
    let some = series_due::due_later(db, now.as_second(), (last, AT_ONCE))?;
    let lacks = |one: &&Series| {
        let expansion = expand(site, one, now);
        expansion.is_some_and(|all| all.occurrences.iter().any(|(at, ..)| *at > one.made_until))
    };
    let lacking = some.iter().filter(lacks).map(|one| one.id).collect();
    Ok((lacking, some.last().map(|one| one.id)))
}

/// Extends the next series that is due. Returns the number of new events, or `None` if there is no
/// such series.
fn extend_next(db: &mut Db, site: &Site, now: Timestamp) -> Result<Option<usize>, DatabaseError> {
    sql::one_writer(db)?;
    // While an export is being loaded, row counts must not change, because they are compared at the
    // end.
    if transfer::unfinished(db)?.is_some() {
        return Ok(None);
    }
    match series_due::due(db, now.as_second(), 1)?.pop() {
        Some(id) => extend(db, site, id, now).map(Some),
        None => Ok(None),
    }
}
