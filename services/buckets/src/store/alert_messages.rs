//! The alert message outbox.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use outbound::Failure;

use super::schema::alert_message;

/// Maximum number of files to include in a message.
pub const MOST_NAMED: usize = 100;

/// A message to be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = alert_message)]
pub struct AlertMessage {
    /// Id in the outbox.
    pub id: i64,
    pub alert_id: i64,
    /// The run that added the files.
    pub run_id: i64,
    /// Generation that the ids belong to.
    pub generation: i64,
    /// The run's files have ids above this one.
    pub after_id: i64,
    /// The run's files have ids up to this one.
    pub last_id: i64,
    /// Set if the package didn't show the message's files yet when the run was published. These
    /// files have a separate message, so that the run's other files don't have to wait for them.
    pub is_delayed: bool,
    /// The package showed buckets that were first indexed by this time. `None` if it has no delay.
    pub shown_until: Option<i64>,
    /// Number of matching files.
    pub count: i64,
    /// Ids of the first few files, as a JSON array.
    pub files: String,
    /// Unix time at which the run was published.
    pub published_at: i64,
    /// Number of failed delivery attempts.
    pub tries: i32,
}

/// A message to add to the outbox.
#[derive(Clone, Debug, Insertable)]
#[diesel(table_name = alert_message)]
pub struct NewAlertMessage {
    pub alert_id: i64,
    /// The run that added the files.
    pub run_id: i64,
    /// Generation that the ids belong to.
    pub generation: i64,
    /// The run's files have ids above this one.
    pub after_id: i64,
    /// The run's files have ids up to this one.
    pub last_id: i64,
    /// Set if the package didn't show the files yet when the run was published.
    pub is_delayed: bool,
    /// The package showed buckets that were first indexed by this time. `None` if it has no delay.
    pub shown_until: Option<i64>,
    /// Number of matching files.
    pub count: i64,
    /// Ids of the first few files, as a JSON array.
    pub files: String,
    /// Unix time at which the run was published.
    pub published_at: i64,
}

/// Serialises the ids of the files in a message.
pub fn ids_text(ids: &[u64]) -> String {
    serde_json::to_string(ids).unwrap_or_default()
}

/// Parses the ids of the files in a message.
pub fn ids_of(text: &str) -> Vec<u64> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Adds files to a run's messages. Messages aren't sent until they are [released](release).
pub fn add(db: &mut Db, run: i64, mut messages: Vec<NewAlertMessage>) -> Result<(), DatabaseError> {
    for messages in messages.chunks_mut(500) {
        let alerts: Vec<i64> = messages.iter().map(|message| message.alert_id).collect();
        let known = alert_message::table
            .filter(alert_message::run_id.eq(run).and(alert_message::next_try.is_null()))
            .filter(alert_message::alert_id.eq_any(alerts));
        let earlier = known.select(AlertMessage::as_select()).load(db)?;
        let part = |message: AlertMessage| ((message.alert_id, message.is_delayed), message);
        let mut earlier: HashMap<(i64, bool), AlertMessage> =
            earlier.into_iter().map(part).collect();
        let mut merged = Vec::new();
        for message in messages.iter_mut() {
            let Some(first) = earlier.remove(&(message.alert_id, message.is_delayed)) else {
                continue;
            };
            let mut ids = ids_of(&first.files);
            ids.extend(ids_of(&message.files));
            ids.truncate(MOST_NAMED);
            message.files = ids_text(&ids);
            message.count += first.count;
            message.after_id = first.after_id;
            message.shown_until = first.shown_until;
            merged.push(first.id);
        }
        // Diesel can't upsert several rows at once on SQLite.
        let merged = alert_message::table.filter(alert_message::id.eq_any(merged));
        diesel::delete(merged).execute(db)?;
        on_backend!(db, conn => diesel::insert_into(alert_message::table)
            .values(&*messages)
            .execute(conn))?;
    }
    Ok(())
}

/// Releases the messages for a run and all earlier runs. They are due immediately.
pub fn release(db: &mut Db, run: i64, now: i64) -> Result<(), DatabaseError> {
    let complete = alert_message::next_try.is_null().and(alert_message::run_id.le(run));
    diesel::update(alert_message::table.filter(complete))
        .set(alert_message::next_try.eq(now))
        .execute(db)?;
    Ok(())
}

/// Translates the ids in waiting messages to the next generation. `place` counts the files up to a
/// given id that are still in the new generation.
pub fn renumber(
    db: &mut Db,
    (from, to): (i64, i64),
    place: &dyn Fn(u64) -> u64,
) -> Result<(), DatabaseError> {
    loop {
        let waiting = alert_message::table
            .filter(alert_message::over_at.is_null().and(alert_message::generation.eq(from)))
            .order(alert_message::id)
            .limit(1_000)
            .select((
                alert_message::id,
                alert_message::after_id,
                alert_message::last_id,
                alert_message::files,
            ));
        let waiting: Vec<(i64, i64, i64, String)> = waiting.load(db)?;
        if waiting.is_empty() {
            return Ok(());
        }
        for (id, after, last, files) in waiting {
            let mut ids = ids_of(&files);
            // If a file is gone, id 0 is used instead. No file has this id, so the file counts as
            // removed.
            let renumbered = |id: u64| match place(id) {
                new if new > place(id.saturating_sub(1)) => new,
                _ => 0,
            };
            ids.iter_mut().for_each(|id| *id = renumbered(*id));
            ids.sort_unstable();
            diesel::update(alert_message::table.find(id))
                .set((
                    alert_message::generation.eq(to),
                    alert_message::after_id.eq(place(after as u64) as i64),
                    alert_message::last_id.eq(place(last as u64) as i64),
                    alert_message::files.eq(ids_text(&ids)),
                ))
                .execute(db)?;
        }
    }
}

/// Returns the alerts with messages that are due.
pub fn due(db: &mut Db, now: i64) -> Result<Vec<i64>, DatabaseError> {
    let waiting = alert_message::table
        .filter(alert_message::over_at.is_null().and(alert_message::next_try.le(now)));
    Ok(waiting.select(alert_message::alert_id).distinct().load(db)?)
}

/// Claims an alert's due messages by postponing their next attempt. If two replicas race, only one
/// of them claims each message.
pub fn claim(
    db: &mut Db,
    alert: i64,
    limit: usize,
    (now, later): (i64, i64),
) -> Result<Vec<AlertMessage>, DatabaseError> {
    let mut claimed = Vec::new();
    while claimed.len() < limit {
        let waiting: Vec<AlertMessage> = alert_message::table
            .filter(alert_message::alert_id.eq(alert))
            .filter(alert_message::over_at.is_null().and(alert_message::next_try.le(now)))
            .order((alert_message::next_try, alert_message::id))
            .limit(i64::try_from(limit - claimed.len()).unwrap_or(i64::MAX))
            .select(AlertMessage::as_select())
            .load(db)?;
        if waiting.is_empty() {
            break;
        }
        let ids: Vec<i64> = waiting.iter().map(|message| message.id).collect();
        // Another replica might have claimed some of these messages since the query.
        let own: Vec<i64> = on_backend!(db, conn => diesel::update(alert_message::table)
            .filter(alert_message::id.eq_any(&ids))
            .filter(alert_message::over_at.is_null().and(alert_message::next_try.le(now)))
            .set(alert_message::next_try.eq(later))
            .returning(alert_message::id)
            .get_results(conn))?;
        let own: HashSet<i64> = own.into_iter().collect();
        claimed.extend(waiting.into_iter().filter(|message| own.contains(&message.id)));
    }
    Ok(claimed)
}

/// Returns `true` unless the message was deleted.
pub fn exists(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    let found: Option<i64> =
        alert_message::table.find(id).select(alert_message::id).first(db).optional()?;
    Ok(found.is_some())
}

/// Deletes an alert's messages that have been neither delivered nor abandoned.
pub fn drop_waiting(db: &mut Db, alert: i64) -> Result<(), DatabaseError> {
    let waiting = alert_message::alert_id.eq(alert).and(alert_message::over_at.is_null());
    diesel::delete(alert_message::table.filter(waiting)).execute(db)?;
    Ok(())
}

/// Records that a message was delivered.
pub fn sent(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(alert_message::table.find(id))
        .set(alert_message::over_at.eq(now))
        .execute(db)?;
    Ok(())
}

/// Records a failed attempt. If it was the last attempt, gives up on the message.
pub fn failed(db: &mut Db, id: i64, failure: &Failure, now: i64) -> Result<(), DatabaseError> {
    let next = failure.next_try(now);
    let noted = (
        alert_message::tries.eq(alert_message::tries + i32::from(failure.counts)),
        alert_message::error.eq(&failure.why),
        next.map(|at| alert_message::next_try.eq(at)),
        next.is_none().then(|| alert_message::over_at.eq(now)),
    );
    diesel::update(alert_message::table.find(id)).set(noted).execute(db)?;
    Ok(())
}

/// Returns `true` if any messages were delivered or abandoned before this Unix time.
pub fn has_over(db: &mut Db, before: i64) -> Result<bool, DatabaseError> {
    let over = alert_message::table.filter(alert_message::over_at.lt(before));
    let first: Option<i64> = over.select(alert_message::id).first(db).optional()?;
    Ok(first.is_some())
}

/// Deletes messages that were delivered or abandoned before this Unix time.
pub fn tidy(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let over = alert_message::table.filter(alert_message::over_at.lt(before));
    Ok(diesel::delete(over).execute(db)?)
}

/// Counts the undelivered messages, leaving out messages that have to wait more than a day for the
/// package to show their files.
pub fn waiting(db: &mut Db, now: i64) -> Result<i64, DatabaseError> {
    let soon = alert_message::next_try.le(now + 86_400);
    let waiting = alert_message::table
        .filter(alert_message::over_at.is_null())
        .filter(alert_message::next_try.is_null().or(soon));
    Ok(waiting.count().get_result(db)?)
}
