//! Pages of event lists, with exact totals.

use database::Db;
use diesel::PgConnection;

use super::statement;
use crate::model::event::Event;
use crate::model::included::Included;
use crate::model::list::{EventFilter, Paging, Unpublished};
use crate::store::event_index::{IndexAccess, ListError, Peeked};
use crate::store::included::{EventSelector, LONGEST_ANSWER};
use crate::store::read_transactions::read_transaction;
use crate::store::{event_moves, included, text_lengths};

/// Events on a page, their included resources, and the total for the list.
pub type Page = (Vec<Event>, Included, i64);

/// Returns whether the filter can't match anything.
fn is_empty(filter: &EventFilter) -> bool {
    let scope = &filter.scope;
    filter.matches_nothing || (!scope.published && scope.unpublished == Unpublished::None)
}

/// Returns the events on a page with all included resources, and the total number of matches. The
/// page can contain up to `room` bytes of text.
///
/// # Errors
///
/// Returns an error if the page exceeds `room`, the in-memory index can't answer, or the database
/// fails.
pub fn page_with_included(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    paging: Paging,
    room: usize,
) -> Result<Page, ListError> {
    if is_empty(filter) {
        return Ok((Vec::new(), Included::default(), 0));
    }
    if let Db::Pg(conn) = db
        && let Some(page) = page_of_one_state(conn, access, filter, paging, room)?
    {
        let (events, mut included, total) = page;
        included.previous_starts = event_moves::of_rescheduled(db, &included.statuses)?;
        return Ok((events, included, total));
    }
    read_transaction(db, |db| {
        let (ids, total) = page_of(db, access, filter, paging)?;
        text_lengths::check(text_lengths::of_events(db, &ids)?, room)?;
        let (events, included) = included::of_events(db, EventSelector::Ids(&ids))?;
        Ok((events, included, total))
    })
}

/// Reads a page in a single statement, without a transaction. `None` unless the index and the
/// statement's snapshot are in the same state.
fn page_of_one_state(
    conn: &mut PgConnection,
    IndexAccess { index, deadline }: IndexAccess<'_>,
    filter: &EventFilter,
    paging: Paging,
    room: usize,
) -> Result<Option<Page>, ListError> {
    if usize::try_from(paging.per_page).is_ok_and(|rows| rows > LONGEST_ANSWER) {
        return Ok(None);
    }
    let Some(Peeked { ids, total, seq }) = index.peek(deadline, filter, paging) else {
        return Ok(None);
    };
    let (latest, events, included) = included::of_page(conn, &ids, room)?;
    let is_whole = latest == seq && events.len() == ids.len();
    Ok(is_whole.then_some((events, included, total)))
}

/// Returns the ids on a page and the total number of matches.
///
/// # Errors
/// See [`page_with_included`].
pub fn page(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), ListError> {
    if is_empty(filter) {
        return Ok((Vec::new(), 0));
    }
    read_transaction(db, |db| page_of(db, access, filter, paging))
}

/// Counts the events that a list request selects.
///
/// # Errors
/// See [`page_with_included`].
pub fn total(db: &mut Db, access: IndexAccess<'_>, filter: &EventFilter) -> Result<i64, ListError> {
    let nothing = Paging { page: 1, per_page: 0 };
    page(db, access, filter, nothing).map(|(_, total)| total)
}

fn page_of(
    db: &mut Db,
    IndexAccess { index, deadline }: IndexAccess<'_>,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), ListError> {
    match index.page(db, deadline, filter, paging)? {
        Some(page) => Ok(page),
        None => Ok(statement::page(db, filter, paging)?),
    }
}
