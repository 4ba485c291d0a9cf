//! Publishes scheduled resources when they are due.

use database::{DatabaseError, Db};

use crate::model::linked::Kind;
use crate::state::State;
use crate::store::{events, linked_posts, sql, transfer};

/// Publishes all resources that are due. Failures are logged, and the next tick retries.
pub async fn publish_due(state: &State) {
    loop {
        let now = state.clock.unix();
        match state
            .pools
            .write_with_retries(DatabaseError::is_busy, move |db| due_in(db, now))
            .await
        {
            Ok(0) => return,
            Ok(count) => log::info!("{count} scheduled resources published"),
            Err(error) => {
                log::warn!("cannot publish scheduled resources: {error}");
                return;
            }
        }
    }
}

/// Publishes resources that are due and returns their number. A limit keeps the transaction short
/// for the sake of other writers.
fn due_in(db: &mut Db, now: i64) -> Result<usize, DatabaseError> {
    sql::one_writer(db)?;
    // While an export is being loaded, row counts must not change, because they are compared at the
    // end.
    if transfer::unfinished(db)?.is_some() {
        return Ok(0);
    }
    let events = events::publish_due(db, now)?;
    let venues = linked_posts::publish_due(db, Kind::Venue, now)?;
    let organizers = linked_posts::publish_due(db, Kind::Organizer, now)?;
    Ok(events + venues + organizers)
}
