//! Lists of venues and organizers.

use database::Db;

use super::event_index::ListError;
use super::linked_posts::by_ids;
use super::read_transactions::read_transaction;
use super::sql::Sql;
use super::{conditions, links, text_lengths};
use crate::model::linked::{Kind, Linked};
use crate::model::list::{LinkedFilter, Paging};
use crate::model::role::{self, Actor};
use crate::model::search;

/// Returns a page of rows, most recently published first, and the total number of matches. The page
/// can contain up to `room` bytes of text.
pub fn page(
    db: &mut Db,
    kind: Kind,
    filter: &LinkedFilter,
    paging: Paging,
    room: usize,
) -> Result<(Vec<Linked>, i64), ListError> {
    read_transaction(db, |db| {
        let mut count = Sql::new(db, "select count(*) as n ");
        append_conditions(&mut count, kind, filter);
        let total = count.number(db)?;
        if total <= paging.offset() {
            return Ok((Vec::new(), total));
        }
        let mut sql = Sql::new(db, "select v.id as id ");
        append_conditions(&mut sql, kind, filter);
        sql.push(" order by v.published_utc desc, v.id desc");
        sql.push(&format!(" limit {} offset {}", paging.per_page, paging.offset()));
        let ids = sql.load_ids(db)?;
        text_lengths::check(text_lengths::of_linked(db, kind, &ids)?, room)?;
        let mut rows = by_ids(db, kind, &ids)?;
        Ok((ids.iter().filter_map(|id| rows.remove(id)).collect(), total))
    })
}

fn append_conditions(sql: &mut Sql, kind: Kind, filter: &LinkedFilter) {
    let LinkedFilter { scope, actor, search, event, has_events, upcoming_since } = filter;
    sql.push("from ").push(kind.collection()).push(" v where ");
    conditions::statuses(sql, "v", scope);
    if let Some(search) = search {
        sql.push(" and ").contains("v.search_ci", &search::fold(search));
    }
    if let Some(event) = event {
        linked_to(sql, kind, true);
        sql.push(&format!("l.event_id = {event})"));
    }
    if let Some(wanted) = has_events {
        linked_to(sql, kind, *wanted);
        sql.push("l.event_id in (select e.id from events e where e.id = l.event_id and (");
        sql.push("e.status = 'publish'");
        hidden_events(sql, actor);
        sql.push(")))");
    }
    if let Some(since) = upcoming_since {
        linked_to(sql, kind, true);
        sql.push(&format!("l.start_utc >= {since} and "));
        sql.push("l.event_id in (select e.id from events e where e.id = l.event_id and ");
        readable_events(sql, actor);
        sql.push("))");
    }
}

/// Starts a condition on links. The caller must close the parenthesis.
fn linked_to(sql: &mut Sql, kind: Kind, wanted: bool) {
    sql.push(if wanted { " and exists (" } else { " and not exists (" });
    sql.push("select 1 from ").push(links::table(kind)).push(" l where l.other_id = v.id and ");
}

/// Extends the condition to scheduled and private events that the caller is allowed to read. Other
/// users' hidden events don't count, because their venues would reveal that these events exist.
fn hidden_events(sql: &mut Sql, actor: &Actor) {
    const HIDDEN: &str = "e.status in ('future', 'private')";
    if role::sees_all(actor) {
        sql.push(" or ").push(HIDDEN);
    } else if let Some(own) = role::sees_own(actor) {
        sql.push(&format!(" or ({HIDDEN} and e.author_id = {own})"));
    }
}

fn readable_events(sql: &mut Sql, actor: &Actor) {
    if role::sees_all(actor) {
        sql.push("e.status <> 'trash'");
    } else if let Some(own) = role::sees_own(actor) {
        sql.push(&format!(
            "(e.status = 'publish' or (e.status <> 'trash' and e.author_id = {own}))"
        ));
    } else {
        sql.push("e.status = 'publish'");
    }
}
