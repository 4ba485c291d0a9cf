//! A page of an event list: the exact total, then the ids from the nearer end of the list.

use database::{DatabaseError, Db};

use super::fast_paths::{is_empty, is_plain, is_preparable, single_link};
use super::statements::{
    append_page, append_public_total, append_unpublished_count, count_linked, page_statement,
};
use crate::model::included::Included;
use crate::model::list::{EventFilter, Paging, Slice};
use crate::store::event_index::{IndexAccess, ListError};
use crate::store::included::{EventSelector, Page};
use crate::store::read_transactions::read_transaction;
use crate::store::sql::Sql;
use crate::store::{counts, included, text_lengths};

/// Maximum offset up to which one statement reads a page without knowing the total.
const MAX_OFFSET_WITHOUT_TOTAL: i64 = 1000;

/// Maximum number of rows before a page that the database reads. The database walks over them one
/// by one, while the index in memory counts them.
const LONGEST_WALK: i64 = 10_000;

/// Reads the events of a page with all included resources, and the total number of matches. The
/// texts of the page may have at most `room` bytes.
///
/// # Errors
/// The page exceeds `room`, the index in memory could not answer, or the database failed.
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
        && is_preparable(filter)
        && paging.offset() <= MAX_OFFSET_WITHOUT_TOTAL
    {
        let (mut page, mut total) = (Sql::steady(), Sql::steady());
        let take = paging.per_page;
        let slice = Slice { skip: paging.offset(), take, backwards: false };
        append_page(&mut page, filter, slice);
        append_public_total(&mut total, filter);
        return match included::of_page(conn, page, total, room)? {
            Ok(page) => Ok(page),
            Err(ids) => Err(ListError::Long(text_lengths::of_events(db, &ids)?)),
        };
    }
    read_transaction(db, |db| {
        let (ids, total) = page_of(db, access, filter, paging)?;
        text_lengths::check(text_lengths::of_events(db, &ids)?, room)?;
        let (events, included) = included::of_events(db, EventSelector::Ids(&ids))?;
        Ok((events, included, total))
    })
}

/// Reads the ids of a page and the total number of matches.
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

fn page_of(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), ListError> {
    let Some(total) = total(db, filter)? else {
        return access.index.page(db, access.deadline, filter, paging);
    };
    let Some(slice) = Slice::of(paging, total) else { return Ok((Vec::new(), total)) };
    if slice.skip > LONGEST_WALK {
        return access.index.page(db, access.deadline, filter, paging);
    }
    let mut ids = page_statement(db, filter, slice).load_ids(db)?;
    if slice.backwards {
        ids.reverse();
    }
    Ok((ids, total))
}

/// Counts a list that database indexes answer. Returns `None` for all others.
pub fn total(db: &mut Db, filter: &EventFilter) -> Result<Option<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "");
    if let Some(link) = single_link(filter) {
        count_linked(&mut sql, &link, &filter.window);
        return sql.number(db).map(Some);
    }
    if !is_plain(filter) {
        return Ok(None);
    }
    let public = if filter.scope.published { counts::public(db, &filter.window)? } else { 0 };
    if filter.scope.is_public() {
        return Ok(Some(public));
    }
    append_unpublished_count(&mut sql, filter);
    Ok(Some(public + sql.number(db)?))
}
