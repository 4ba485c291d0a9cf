//! The outbox of alerts.

use std::collections::HashSet;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use outbound::Failure;

use super::schema::alert_message;

/// A message to deliver.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = alert_message)]
pub struct AlertMessage {
    /// Identifier.
    pub id: i64,
    /// The alert.
    pub alert_id: i64,
    /// The run that added the files.
    pub run_id: i64,
    /// Generation of the ids.
    pub generation: i64,
    /// The files of the run have larger ids.
    pub after_id: i64,
    /// Number of matching files.
    pub count: i64,
    /// Ids of the first ones as a JSON array.
    pub files: String,
    /// Unix seconds of the publish.
    pub published_at: i64,
    /// Failed attempts.
    pub tries: i32,
}

/// A message to add.
#[derive(Clone, Debug, Insertable)]
#[diesel(table_name = alert_message)]
pub struct NewAlertMessage {
    /// The alert.
    pub alert_id: i64,
    /// The run that added the files.
    pub run_id: i64,
    /// Generation of the ids.
    pub generation: i64,
    /// The files of the run have larger ids.
    pub after_id: i64,
    /// Number of matching files.
    pub count: i64,
    /// Ids of the first ones as a JSON array.
    pub files: String,
    /// Unix seconds of the publish.
    pub published_at: i64,
    /// Unix seconds of the first attempt.
    pub next_try: i64,
}

/// Adds messages.
pub fn add(db: &mut Db, messages: &[NewAlertMessage]) -> Result<(), DatabaseError> {
    for messages in messages.chunks(500) {
        on_backend!(db, conn => diesel::insert_into(alert_message::table)
            .values(messages)
            .execute(conn))?;
    }
    Ok(())
}

/// Returns the alerts that have due messages.
pub fn due(db: &mut Db, now: i64) -> Result<Vec<i64>, DatabaseError> {
    let waiting = alert_message::table
        .filter(alert_message::over_at.is_null().and(alert_message::next_try.le(now)));
    Ok(waiting.select(alert_message::alert_id).distinct().load(db)?)
}

/// Claims due messages of an alert and postpones their next attempt. If two replicas race, only one
/// gets a message.
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
        // Another replica may have claimed some between the two statements.
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

/// Records that a message was delivered.
pub fn sent(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    diesel::update(alert_message::table.find(id))
        .set(alert_message::over_at.eq(now))
        .execute(db)?;
    Ok(())
}

/// Records a failed attempt. Without a next attempt the message is abandoned.
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

/// Returns true if a message was delivered or abandoned before this second.
pub fn has_over(db: &mut Db, before: i64) -> Result<bool, DatabaseError> {
    let over = alert_message::table.filter(alert_message::over_at.lt(before));
    let first: Option<i64> = over.select(alert_message::id).first(db).optional()?;
    Ok(first.is_some())
}

/// Deletes messages that were delivered or abandoned before this second.
pub fn tidy(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let over = alert_message::table.filter(alert_message::over_at.lt(before));
    Ok(diesel::delete(over).execute(db)?)
}

/// Counts the messages that wait.
pub fn waiting(db: &mut Db) -> Result<i64, DatabaseError> {
    let waiting = alert_message::table.filter(alert_message::over_at.is_null());
    Ok(waiting.count().get_result(db)?)
}
