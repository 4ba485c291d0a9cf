//! Events that come from subscriptions, and which of their fields users have changed.

use std::collections::{HashMap, HashSet};

use database::{Backend, DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};

use super::among_ids::among;
use super::schema::subscribed_events;
use super::sql::{Sql, TextRow};
use crate::model::event::Event;
use crate::model::list::Paging;
use crate::model::subscription_parts::Parts;

/// A row in the `subscribed_events` table.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = subscribed_events)]
struct Row {
    subscription_id: i64,
    name: String,
    event_id: Option<i64>,
    is_vanished: bool,
    changed: String,
}

/// An event that comes from a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribedEvent {
    pub subscription: i64,
    /// The event's external id.
    pub name: String,
    /// The event's id, or `None` if it was erased.
    pub event: Option<i64>,
    /// Whether the event was trashed because it disappeared from the file.
    pub is_vanished: bool,
    /// The fields that users have changed.
    pub changed: Parts,
}

impl From<Row> for SubscribedEvent {
    fn from(row: Row) -> SubscribedEvent {
        SubscribedEvent {
            subscription: row.subscription_id,
            name: row.name,
            event: row.event_id,
            is_vanished: row.is_vanished,
            changed: Parts::stored(&row.changed),
        }
    }
}

/// Returns which subscription an event comes from, if any, and which fields users have changed.
pub fn of_event(db: &mut Db, event: i64) -> Result<Option<SubscribedEvent>, DatabaseError> {
    let found = subscribed_events::table.filter(subscribed_events::event_id.eq(event));
    let row: Option<Row> = found.select(Row::as_select()).first(db).optional()?;
    Ok(row.map(SubscribedEvent::from))
}

/// Finds one of a subscription's events by external id.
pub fn find(
    db: &mut Db,
    subscription: i64,
    name: &str,
) -> Result<Option<SubscribedEvent>, DatabaseError> {
    let found = subscribed_events::table.find((subscription, name));
    let row: Option<Row> = found.select(Row::as_select()).first(db).optional()?;
    Ok(row.map(SubscribedEvent::from))
}

/// Returns the subscription that a series' events come from, if any.
pub fn of_series(db: &mut Db, series: i64) -> Result<Option<i64>, DatabaseError> {
    let text = "select s.subscription_id as id from subscribed_events s join series_events m \
        on m.event_id = s.event_id where m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(series).push(" order by s.subscription_id limit 1");
    Ok(sql.load_ids(db)?.pop())
}

/// Returns the events in a series that don't come from a subscription.
pub fn unknown_of_series(db: &mut Db, series: i64) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select m.event_id as id from series_events m where m.series_id = ");
    sql.value(series).push(" and not exists (select 1 from subscribed_events s ");
    sql.push("where s.event_id = m.event_id) order by m.event_id");
    sql.load_ids(db)
}

/// Returns the fields that users have changed, keyed by event id, for the events in a series.
/// Events without changes are omitted.
pub fn changed_in_series(db: &mut Db, series: i64) -> Result<HashMap<i64, Parts>, DatabaseError> {
    let text = "select m.event_id as id, s.changed as text from series_events m \
        join subscribed_events s on s.event_id = m.event_id where s.changed <> '' and m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(series);
    let rows: Vec<TextRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| (row.id, Parts::stored(&row.text))).collect())
}

/// Records that an event is in the subscription's file.
pub fn note(db: &mut Db, subscription: i64, name: &str, event: i64) -> Result<(), DatabaseError> {
    let known = find(db, subscription, name)?;
    if known.is_some_and(|known| known.event == Some(event) && !known.is_vanished) {
        return Ok(());
    }
    let text =
        "insert into subscribed_events (subscription_id, name, event_id, is_vanished, changed)";
    let mut sql = Sql::new(db, text);
    sql.push(" values (").value(subscription).push(", ").bind(name).push(", ").value(event);
    sql.push(", false, '') on conflict (subscription_id, name) do update set ");
    sql.push("event_id = excluded.event_id, is_vanished = excluded.is_vanished");
    sql.execute(db).map(drop)
}

/// Records that an event was trashed because it disappeared from the file.
pub fn note_vanished(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    let found = subscribed_events::table.filter(subscribed_events::event_id.eq(event));
    diesel::update(found).set(subscribed_events::is_vanished.eq(true)).execute(db)?;
    Ok(())
}

/// If a user trashed this event before it began, records when that was. Called when the event is
/// about to be erased.
pub fn note_erased(db: &mut Db, event: &Event) -> Result<(), DatabaseError> {
    let is_ahead = event.modified_utc < event.schedule.start_utc;
    let removed_utc = if is_ahead { event.modified_utc } else { 0 };
    let found = subscribed_events::table.filter(subscribed_events::event_id.eq(event.id));
    diesel::update(found).set(subscribed_events::removed_utc.eq(removed_utc)).execute(db)?;
    Ok(())
}

/// Records an event's external id after it has changed in the file. Does nothing if the event
/// doesn't come from a subscription.
pub fn rename(db: &mut Db, event: i64, name: &str) -> Result<(), DatabaseError> {
    let Some(known) = of_event(db, event)? else { return Ok(()) };
    if known.name == name {
        return Ok(());
    }
    // The name might belong to an event that was erased.
    forget(db, known.subscription, name)?;
    let found = subscribed_events::table.filter(subscribed_events::event_id.eq(event));
    diesel::update(found).set(subscribed_events::name.eq(name)).execute(db)?;
    Ok(())
}

/// Records that an erased event would now have a different external id in the file.
pub fn rename_erased(
    db: &mut Db,
    subscription: i64,
    (old, new): (&str, &str),
) -> Result<(), DatabaseError> {
    forget(db, subscription, new)?;
    let found = subscribed_events::table.find((subscription, old));
    diesel::update(found).set(subscribed_events::name.eq(new)).execute(db)?;
    Ok(())
}

/// Records that users have changed additional fields of an event. Does nothing if the event doesn't
/// come from a subscription.
pub fn note_changed(db: &mut Db, event: i64, parts: &Parts) -> Result<(), DatabaseError> {
    let Some(known) = of_event(db, event)? else { return Ok(()) };
    let changed = known.changed.with(parts);
    if changed == known.changed {
        return Ok(());
    }
    set_changed(db, event, &changed)
}

/// Replaces the list of fields that users have changed.
pub fn set_changed(db: &mut Db, event: i64, parts: &Parts) -> Result<(), DatabaseError> {
    let found = subscribed_events::table.filter(subscribed_events::event_id.eq(event));
    diesel::update(found).set(subscribed_events::changed.eq(parts.text())).execute(db)?;
    Ok(())
}

/// A future event from a subscription.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct FutureEvent {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    /// The external id.
    #[diesel(sql_type = Text)]
    pub name: String,
    /// Names of the fields that users have changed, or an empty string.
    #[diesel(sql_type = Text)]
    pub changed: String,
}

/// Returns a subscription's future events, except for trashed events and for events that
/// disappeared from the file and were restored by a user.
pub fn future(db: &mut Db, subscription: i64, now: i64) -> Result<Vec<FutureEvent>, DatabaseError> {
    let text = "select e.id, s.name, s.changed from subscribed_events s join events e on \
        e.id = s.event_id where s.is_vanished = false and e.status <> 'trash' and s.subscription_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(subscription).push(" and e.start_utc > ").value(now).push(" order by e.id");
    sql.load(db)
}

/// Returns up to `most` ids of a subscription's untrashed events.
pub fn some_untrashed(
    db: &mut Db,
    subscription: i64,
    most: i64,
) -> Result<Vec<i64>, DatabaseError> {
    let text = "select e.id from subscribed_events s join events e on e.id = s.event_id \
        where e.status <> 'trash' and s.subscription_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(subscription).push(" order by e.id limit ").value(most);
    sql.load_ids(db)
}

#[derive(QueryableByName)]
struct NameRow {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Returns the external ids of a subscription's erased events.
pub fn erased(db: &mut Db, subscription: i64) -> Result<Vec<String>, DatabaseError> {
    let mut sql = Sql::new(db, "select name from subscribed_events where event_id is null and ");
    sql.push("subscription_id = ").value(subscription);
    let rows: Vec<NameRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// Returns the external ids of events that users erased, which imports don't create again.
pub fn erased_by_users(db: &mut Db, subscription: i64) -> Result<Vec<String>, DatabaseError> {
    let mut sql = Sql::new(db, "select name from subscribed_events where event_id is null and ");
    sql.push("is_vanished = false and subscription_id = ").value(subscription);
    let rows: Vec<NameRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// An occurrence in a subscription's file, within a series. Its event either exists or was erased.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct KnownDate {
    /// The external id.
    #[diesel(sql_type = Text)]
    name: String,
    /// When a user trashed or erased the event before it began. 0 if that didn't happen.
    #[diesel(sql_type = BigInt)]
    removed_utc: i64,
}

impl KnownDate {
    /// Returns the occurrence's key. Empty for the occurrence with the plain UID.
    pub fn key(&self, uid: &str) -> &str {
        let rest = self.name.strip_prefix(uid).unwrap_or_default();
        rest.strip_prefix('#').unwrap_or_default()
    }

    /// Returns when a user trashed or erased the event before it began, or `None` if that didn't
    /// happen.
    pub fn removed_utc(&self) -> Option<i64> {
        Some(self.removed_utc).filter(|at| *at > 0)
    }
}

/// All events of subscriptions, including erased ones.
const KNOWN: &str = "from subscribed_events s left join events e on e.id = s.event_id \
    left join imported_events i on i.event_id = s.event_id where s.subscription_id = ";

/// Condition that a user trashed or erased an event.
const REMOVED: &str = "((s.event_id is null and not s.is_vanished) \
    or (e.status = 'trash' and not coalesce(i.is_trashed, false)))";

/// When a user trashed or erased an event before it began, or 0.
const REMOVED_UTC: &str = "case when s.event_id is null and not s.is_vanished then s.removed_utc \
    when e.status = 'trash' and not coalesce(i.is_trashed, false) and e.modified_utc < e.start_utc \
    then e.modified_utc else 0 end as removed_utc";

/// Returns a series' occurrences that have or had events in the subscription.
pub fn dates_of(
    db: &mut Db,
    subscription: i64,
    uid: &str,
) -> Result<Vec<KnownDate>, DatabaseError> {
    dates_statement(db, subscription, uid).load(db)
}

/// Selects a series' occurrences. The first occurrence's external id is the UID itself, and the
/// other external ids start with the UID.
pub fn dates_statement(db: &Db, subscription: i64, uid: &str) -> Sql {
    let text = format!("select s.name, {REMOVED_UTC} {KNOWN}{subscription} and s.name ");
    // An occurrence's external id is the UID, `#`, and the start. `$` is the character after `#`.
    let (is_from, is_below) = match db.backend() {
        Backend::Sqlite => (">= ", "< "),
        Backend::Postgres => ("~>=~ ", "~<~ "),
    };
    let mut sql = Sql::new(db, &text);
    sql.push("= ").bind(uid).push(" union all ").push(&text);
    sql.push(is_from).bind(format!("{uid}#"));
    sql.push(" and s.name ").push(is_below).bind(format!("{uid}$"));
    sql
}

/// Lets a series continue even though users erased its last occurrences. Returns whether there were
/// any such occurrences.
pub fn forget_ends(db: &mut Db, subscription: i64, uid: &str) -> Result<bool, DatabaseError> {
    let mut has_ends = false;
    for date in dates_of(db, subscription, uid)?.iter().filter(|date| date.removed_utc > 0) {
        let found = subscribed_events::table.find((subscription, date.name.as_str()));
        let erased = found.filter(subscribed_events::event_id.is_null());
        let changed =
            diesel::update(erased).set(subscribed_events::removed_utc.eq(0_i64)).execute(db)?;
        has_ends |= changed > 0;
    }
    Ok(has_ends)
}

/// Returns whether users have trashed or erased any of a subscription's events.
pub fn has_removed(db: &mut Db, subscription: i64) -> Result<bool, DatabaseError> {
    let text = format!("select count(*) as n from (select 1 {KNOWN}{subscription} and {REMOVED} ");
    let mut sql = Sql::new(db, &text);
    sql.push("limit 1) removed");
    Ok(sql.number(db)? > 0)
}

/// Deletes the record of an erased event.
pub fn forget(db: &mut Db, subscription: i64, name: &str) -> Result<(), DatabaseError> {
    diesel::delete(subscribed_events::table.find((subscription, name))).execute(db)?;
    Ok(())
}

/// Returns the external ids of a subscription's events.
pub fn names(db: &mut Db, subscription: i64) -> Result<HashSet<String>, DatabaseError> {
    let mut sql = Sql::new(db, "select name from subscribed_events where subscription_id = ");
    sql.value(subscription);
    let rows: Vec<NameRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// Returns which of the events have been changed by users.
pub fn changed_among(db: &mut Db, events: &[i64]) -> Result<HashSet<i64>, DatabaseError> {
    let ids: Vec<Option<i64>> = on_backend!(db, conn => subscribed_events::table
        .filter(among(subscribed_events::event_id, events))
        .filter(subscribed_events::changed.ne(""))
        .select(subscribed_events::event_id)
        .load(conn)?);
    Ok(ids.into_iter().flatten().collect())
}

/// Returns the number of a subscription's existing events, and how many of them users have changed.
pub fn counts(db: &mut Db, subscription: i64) -> Result<(i64, i64), DatabaseError> {
    let mut count = |condition: &str| {
        let text = "select count(*) as n from subscribed_events where event_id is not null";
        let mut sql = Sql::new(db, text);
        sql.push(condition).push(" and subscription_id = ").value(subscription);
        sql.number(db)
    };
    Ok((count("")?, count(" and changed <> ''")?))
}

/// An entry in a list of a subscription's events.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct ListedEvent {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = Text)]
    pub title: String,
    #[diesel(sql_type = Text)]
    pub status: String,
    #[diesel(sql_type = BigInt)]
    pub start_local: i64,
    #[diesel(sql_type = Text)]
    pub name: String,
    #[diesel(sql_type = Text)]
    pub changed: String,
    /// 1 if the event was trashed because it disappeared from the file.
    #[diesel(sql_type = Integer)]
    pub vanished: i32,
}

/// Returns a page of a subscription's existing events, ordered by id, and the total count.
pub fn page(
    db: &mut Db,
    subscription: i64,
    only_changed: bool,
    paging: Paging,
) -> Result<(Vec<ListedEvent>, i64), DatabaseError> {
    let changed = if only_changed { " and s.changed <> ''" } else { "" };
    let from = format!(
        "from subscribed_events s join events e on e.id = s.event_id \
         where s.subscription_id = {subscription}{changed}"
    );
    let total = Sql::new(db, &format!("select count(*) as n {from}")).number(db)?;
    let mut sql = Sql::new(
        db,
        "select e.id, e.title, e.status, e.start_local, s.name, s.changed, \
         case when s.is_vanished then 1 else 0 end as vanished ",
    );
    sql.push(&from).push(" order by e.id limit ").value(paging.per_page);
    sql.push(" offset ").value(paging.offset());
    Ok((sql.load(db)?, total))
}
