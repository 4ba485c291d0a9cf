//! A page of a list of events: the exact total, then the ids from the nearer end of the list.

use database::{DatabaseError, Db};

use super::candidates::{Candidates, geo_venues};
use super::fast_paths::{is_empty, is_plain, is_preparable, single_link};
use super::statements::{
    append_count, append_page, append_public_total, append_unpublished_count, count_linked,
    page_statement,
};
use crate::model::event::Event;
use crate::model::included::Included;
use crate::model::list::{EventFilter, Paging, Slice};
use crate::store::included::EventSelector;
use crate::store::read_transactions::read_transaction;
use crate::store::sql::Sql;
use crate::store::{counts, included, search_candidates};

/// How far into a list one statement reads without knowing the total.
const MAX_OFFSET_WITHOUT_TOTAL: i64 = 1000;

/// Reads the events of a page with everything that they refer to, and the number of all events that
/// match.
pub fn page_with_included(
    db: &mut Db,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<Event>, Included, i64), DatabaseError> {
    if is_empty(filter) {
        return Ok((Vec::new(), Included::default(), 0));
    }
    // Before the read transaction of the list: the statement of the list tests the words again.
    let events = search_candidates::candidates(db, &filter.words)?;
    let mut candidates = Candidates { events, venues: None };
    if let Db::Pg(conn) = db
        && is_preparable(filter, &candidates)
        && paging.offset() <= MAX_OFFSET_WITHOUT_TOTAL
    {
        let (mut page, mut total) = (Sql::steady(), Sql::steady());
        let take = paging.per_page;
        let slice = Slice { skip: paging.offset(), take, backwards: false };
        append_page(&mut page, filter, &candidates, slice);
        append_public_total(&mut total, filter, &candidates);
        return included::of_page(conn, page, total);
    }
    read_transaction(db, |db| {
        candidates.venues = geo_venues(db, filter)?;
        let (ids, total) = page_of(db, filter, &candidates, paging)?;
        let (events, included) = included::of_events(db, EventSelector::Ids(&ids))?;
        Ok((events, included, total))
    })
}

/// Reads the ids of a page and the number of all events that match.
pub fn page(
    db: &mut Db,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), DatabaseError> {
    if is_empty(filter) {
        return Ok((Vec::new(), 0));
    }
    read_transaction(db, |db| {
        let venues = geo_venues(db, filter)?;
        let events = search_candidates::candidates(db, &filter.words)?;
        page_of(db, filter, &Candidates { venues, events }, paging)
    })
}

fn page_of(
    db: &mut Db,
    filter: &EventFilter,
    candidates: &Candidates,
    paging: Paging,
) -> Result<(Vec<i64>, i64), DatabaseError> {
    let total = total(db, filter, candidates)?;
    let Some(slice) = Slice::of(paging, total) else { return Ok((Vec::new(), total)) };
    let mut ids = page_statement(db, filter, candidates, slice).load_ids(db)?;
    if slice.backwards {
        ids.reverse();
    }
    Ok((ids, total))
}

fn total(db: &mut Db, filter: &EventFilter, candidates: &Candidates) -> Result<i64, DatabaseError> {
    let mut sql = Sql::new(db, "");
    if let Some(link) = single_link(filter) {
        count_linked(&mut sql, &link, &filter.window);
        return sql.number(db);
    }
    if is_plain(filter) {
        let public = if filter.scope.published { counts::public(db, &filter.window)? } else { 0 };
        if filter.scope.is_public() {
            return Ok(public);
        }
        append_unpublished_count(&mut sql, filter);
        return Ok(public + sql.number(db)?);
    }
    append_count(&mut sql, filter, candidates);
    sql.number(db)
}
