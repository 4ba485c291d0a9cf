//! Alerts, i.e. searches saved by a key.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::alert_messages;
use super::schema::{alert, alert_message, index_state};

/// A point in the index's history: a generation, and the highest file id at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub generation: i64,
    pub id: i64,
}

/// Alert id, and the number of times the alert was changed.
pub type AlertVersion = (i64, i64);

/// A search that a key has saved.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Alert {
    /// Alert id, as used by clients.
    pub id: i64,
    /// The key that saved the search.
    pub key_id: i64,
    pub name: String,
    /// Parameters of the file search, as a query string.
    pub query: String,
    /// Webhook URL, if any.
    pub webhook: Option<String>,
    /// Secret for signing webhook requests.
    pub secret: Option<String>,
    /// Index generation that `since_id` belongs to.
    pub since_generation: i64,
    /// Files above this id are new.
    pub since_id: i64,
    /// Unix time at which the alert was added.
    pub created_at: i64,
    /// Number of times the search or the webhook was changed.
    pub version: i64,
}

impl Alert {
    /// Identifies the current search and webhook, to detect changes while files are being compared.
    pub fn version(&self) -> AlertVersion {
        (self.id, self.version)
    }

    /// Returns the mark after which files are new.
    pub fn since(&self) -> Mark {
        Mark { generation: self.since_generation, id: self.since_id }
    }
}

/// An alert's search and webhook.
#[derive(Clone, Debug, PartialEq, Eq, Insertable, AsChangeset)]
#[diesel(table_name = alert, treat_none_as_null = true, treat_none_as_default_value = false)]
pub struct AlertContent {
    pub name: String,
    /// Parameters of the file search, as a query string.
    pub query: String,
    /// Webhook URL.
    pub webhook: Option<String>,
    /// Webhook secret.
    pub secret: Option<String>,
}

/// Adds an alert and returns its id.
pub fn add(
    db: &mut Db,
    key: i64,
    content: &AlertContent,
    since: Mark,
    now: i64,
) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(alert::table)
        .values((
            content,
            alert::key_id.eq(key),
            alert::since_generation.eq(since.generation),
            alert::since_id.eq(since.id),
            alert::created_at.eq(now),
        ))
        .returning(alert::id)
        .get_result(db)?)
}

/// Updates an alert. Files after `since` are new.
pub fn change(
    db: &mut Db,
    id: i64,
    content: &AlertContent,
    since: Mark,
) -> Result<(), DatabaseError> {
    diesel::update(alert::table.find(id))
        .set((content, alert::since_generation.eq(since.generation), alert::since_id.eq(since.id)))
        .execute(db)?;
    Ok(())
}

/// Returns a key's alerts, ordered by id.
pub fn of_key(db: &mut Db, key: i64) -> Result<Vec<Alert>, DatabaseError> {
    Ok(alert::table.filter(alert::key_id.eq(key)).order(alert::id.asc()).load(db)?)
}

/// Looks up an alert by id.
pub fn by_id(db: &mut Db, id: i64) -> Result<Option<Alert>, DatabaseError> {
    Ok(alert::table.find(id).first(db).optional()?)
}

/// Returns all alerts that have a webhook.
pub fn with_webhooks(db: &mut Db) -> Result<Vec<Alert>, DatabaseError> {
    Ok(alert::table.filter(alert::webhook.is_not_null()).order(alert::id.asc()).load(db)?)
}

/// Drops an alert's undelivered messages, and keeps any comparison in progress from adding more.
pub fn restart_messages(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    // This waits for a process that is adding messages, so it has to come before the deletion.
    diesel::update(alert::table.find(id))
        .set(alert::version.eq(alert::version + 1_i64))
        .execute(db)?;
    alert_messages::drop_waiting(db, id)
}

/// Prevents alerts from being changed or removed until this transaction ends. Returns the `wanted`
/// alerts that haven't been changed, in ascending order. SQLite has a single writer and doesn't
/// need a lock.
pub fn keep(db: &mut Db, wanted: &[AlertVersion]) -> Result<Vec<AlertVersion>, DatabaseError> {
    let mut found: Vec<AlertVersion> = Vec::new();
    for wanted in wanted.chunks(500) {
        let ids: Vec<i64> = wanted.iter().map(|(id, _)| *id).collect();
        let present = alert::table
            .filter(alert::id.eq_any(ids))
            .select((alert::id, alert::version))
            .order(alert::id.asc());
        let present: Vec<AlertVersion> = match db {
            Db::Pg(conn) => present.for_share().load(conn)?,
            Db::Sqlite(conn) => present.load(conn)?,
        };
        found.extend(present.into_iter().filter(|version| wanted.contains(version)));
    }
    found.sort_unstable();
    Ok(found)
}

/// Removes an alert and its messages.
pub fn remove(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        // Wait for a process that is adding messages, so that its messages are removed too.
        let own = alert::table.find(id).select(alert::id);
        own.for_update().first::<i64>(conn).optional()?;
    }
    diesel::delete(alert_message::table.filter(alert_message::alert_id.eq(id))).execute(db)?;
    diesel::delete(alert::table.find(id)).execute(db)?;
    Ok(())
}

/// Returns the mark up to which files have been compared with the alerts.
pub fn judged(db: &mut Db) -> Result<Mark, DatabaseError> {
    let columns = (index_state::judged_generation, index_state::judged_id);
    let (generation, id) = index_state::table.select(columns).first(db)?;
    Ok(Mark { generation, id })
}

/// Records the mark up to which files have been compared with the alerts. Returns `false` if
/// another process was faster.
pub fn advance(db: &mut Db, from: Mark, to: Mark) -> Result<bool, DatabaseError> {
    let unchanged = index_state::table
        .filter(index_state::judged_generation.eq(from.generation))
        .filter(index_state::judged_id.eq(from.id));
    let changed = diesel::update(unchanged)
        .set((index_state::judged_generation.eq(to.generation), index_state::judged_id.eq(to.id)))
        .execute(db)?;
    Ok(changed > 0)
}

/// Translates all marks to the next generation, where files have different ids. `place` counts the
/// files up to a given id that are still in the new generation.
pub fn renumber(
    db: &mut Db,
    (from, to): (i64, i64),
    place: &dyn Fn(u64) -> u64,
) -> Result<(), DatabaseError> {
    let last = judged(db)?;
    if last.generation == from {
        advance(db, last, Mark { generation: to, id: place(last.id as u64) as i64 })?;
    }
    let since = alert::table.filter(alert::since_generation.eq(from)).select(alert::since_id);
    for id in since.distinct().load::<i64>(db)? {
        let own = alert::since_generation.eq(from).and(alert::since_id.eq(id));
        diesel::update(alert::table.filter(own))
            .set((alert::since_generation.eq(to), alert::since_id.eq(place(id as u64) as i64)))
            .execute(db)?;
    }
    alert_messages::renumber(db, (from, to), place)
}

/// Resets all marks, so that only files after `at` count as new. Used after rebuilding the index
/// from sources.
pub fn restart(db: &mut Db, at: Mark, now: i64) -> Result<(), DatabaseError> {
    diesel::update(index_state::table)
        .set((index_state::judged_generation.eq(at.generation), index_state::judged_id.eq(at.id)))
        .execute(db)?;
    move_to(db, at)?;
    // Some messages are incomplete, but the rest of their files can no longer be compared.
    alert_messages::release(db, i64::MAX, now)
}

/// Moves all alerts from earlier generations to mark `at`.
pub fn move_to(db: &mut Db, at: Mark) -> Result<(), DatabaseError> {
    diesel::update(alert::table.filter(alert::since_generation.lt(at.generation)))
        .set((alert::since_generation.eq(at.generation), alert::since_id.eq(at.id)))
        .execute(db)?;
    Ok(())
}
