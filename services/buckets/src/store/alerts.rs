//! Alerts: searches that keys have saved.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::alert_messages;
use super::schema::{alert, alert_message, index_state};

/// A position in the index: a generation, and the largest id of a file in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub generation: i64,
    pub id: i64,
}

/// Id of an alert, and the number of its changes.
pub type AlertVersion = (i64, i64);

/// A search that a key has saved.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Alert {
    /// The id by which clients refer to the alert.
    pub id: i64,
    /// The key that saved the search.
    pub key_id: i64,
    pub name: String,
    /// Parameters of the file search, as in a URL.
    pub query: String,
    /// URL of the webhook, if the alert has one.
    pub webhook: Option<String>,
    /// Secret with which requests to the webhook are signed.
    pub secret: Option<String>,
    /// Generation of the index to which `since_id` belongs.
    pub since_generation: i64,
    /// New files have greater ids than this.
    pub since_id: i64,
    /// When the alert was added, in Unix seconds.
    pub created_at: i64,
    /// Number of changes of the search or the webhook.
    pub version: i64,
}

impl Alert {
    /// Identifies the search and the webhook with which files are compared.
    pub fn version(&self) -> AlertVersion {
        (self.id, self.version)
    }

    /// Returns the mark after which files are new.
    pub fn since(&self) -> Mark {
        Mark { generation: self.since_generation, id: self.since_id }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertContent {
    pub name: String,
    /// Parameters of the file search, as in a URL.
    pub query: String,
    /// URL of the webhook.
    pub webhook: Option<String>,
    /// Secret of the webhook.
    pub secret: Option<String>,
}

/// Adds an alert. Returns its id.
pub fn add(
    db: &mut Db,
    key: i64,
    content: &AlertContent,
    since: Mark,
    now: i64,
) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(alert::table)
        .values((
            alert::key_id.eq(key),
            alert::name.eq(&content.name),
            alert::query.eq(&content.query),
            alert::webhook.eq(&content.webhook),
            alert::secret.eq(&content.secret),
            alert::since_generation.eq(since.generation),
            alert::since_id.eq(since.id),
            alert::created_at.eq(now),
        ))
        .returning(alert::id)
        .get_result(db)?)
}

/// Changes an alert. Files are new after a mark.
pub fn change(
    db: &mut Db,
    id: i64,
    content: &AlertContent,
    since: Mark,
) -> Result<(), DatabaseError> {
    diesel::update(alert::table.find(id))
        .set((
            alert::name.eq(&content.name),
            alert::query.eq(&content.query),
            alert::webhook.eq(&content.webhook),
            alert::secret.eq(&content.secret),
            alert::since_generation.eq(since.generation),
            alert::since_id.eq(since.id),
        ))
        .execute(db)?;
    Ok(())
}

/// Returns the alerts of a key, in order of id.
pub fn of_key(db: &mut Db, key: i64) -> Result<Vec<Alert>, DatabaseError> {
    Ok(alert::table.filter(alert::key_id.eq(key)).order(alert::id.asc()).load(db)?)
}

/// Returns an alert by its id.
pub fn by_id(db: &mut Db, id: i64) -> Result<Option<Alert>, DatabaseError> {
    Ok(alert::table.find(id).first(db).optional()?)
}

/// Returns all alerts with webhooks.
pub fn with_webhooks(db: &mut Db) -> Result<Vec<Alert>, DatabaseError> {
    Ok(alert::table.filter(alert::webhook.is_not_null()).order(alert::id.asc()).load(db)?)
}

/// Drops the messages of an alert that were not delivered yet. A comparison that is under way adds no
/// more messages to it.
pub fn restart_messages(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    // Waits for a process that is adding messages, so this comes before the deletion.
    diesel::update(alert::table.find(id))
        .set(alert::version.eq(alert::version + 1_i64))
        .execute(db)?;
    alert_messages::drop_waiting(db, id)
}

/// Prevents the change and the removal of alerts until this transaction ends. Returns those that have
/// not been changed, in ascending order. SQLite has a single writer and does not need a lock.
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
        // Waits for a process that is adding messages. These are then removed too.
        let own = alert::table.find(id).select(alert::id);
        own.for_update().first::<i64>(conn).optional()?;
    }
    diesel::delete(alert_message::table.filter(alert_message::alert_id.eq(id))).execute(db)?;
    diesel::delete(alert::table.find(id)).execute(db)?;
    Ok(())
}

/// Returns the mark of the last file that was compared with the alerts.
pub fn judged(db: &mut Db) -> Result<Mark, DatabaseError> {
    let columns = (index_state::judged_generation, index_state::judged_id);
    let (generation, id) = index_state::table.select(columns).first(db)?;
    Ok(Mark { generation, id })
}

/// Records that files were compared with the alerts. Returns false if another process was faster.
pub fn advance(db: &mut Db, from: Mark, to: Mark) -> Result<bool, DatabaseError> {
    let unchanged = index_state::table
        .filter(index_state::judged_generation.eq(from.generation))
        .filter(index_state::judged_id.eq(from.id));
    let changed = diesel::update(unchanged)
        .set((index_state::judged_generation.eq(to.generation), index_state::judged_id.eq(to.id)))
        .execute(db)?;
    Ok(changed > 0)
}

/// Changes the places of one generation to those of the next one, whose files have other ids. `place`
/// returns the number of files up to an id that are also in the next generation.
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

/// Makes files new from a place of a generation that was built from sources.
pub fn restart(db: &mut Db, at: Mark, now: i64) -> Result<(), DatabaseError> {
    diesel::update(index_state::table)
        .set((index_state::judged_generation.eq(at.generation), index_state::judged_id.eq(at.id)))
        .execute(db)?;
    move_to(db, at)?;
    // The rest of their files cannot be compared any more.
    alert_messages::release(db, i64::MAX, now)
}

/// Moves all alerts of earlier generations to a place of a later one.
pub fn move_to(db: &mut Db, at: Mark) -> Result<(), DatabaseError> {
    diesel::update(alert::table.filter(alert::since_generation.lt(at.generation)))
        .set((alert::since_generation.eq(at.generation), alert::since_id.eq(at.id)))
        .execute(db)?;
    Ok(())
}
