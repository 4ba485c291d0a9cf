//! Audit log of changes made by the operator.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::admin_event;

/// Returns whether a change has been logged.
pub fn is_logged(
    db: &mut Db,
    now: i64,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<bool, DatabaseError> {
    let same = admin_event::table
        .filter(admin_event::at.eq(now).and(admin_event::action.eq(action)))
        .filter(admin_event::subject.eq(subject).and(admin_event::detail.eq(detail)));
    Ok(same.select(admin_event::id).first::<i64>(db).optional()?.is_some())
}

/// Logs a change. The actor is the system user who runs the command.
pub fn add(
    db: &mut Db,
    now: i64,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<(), DatabaseError> {
    let actor = std::env::var("USER").unwrap_or_else(|_| "operator".to_owned());
    diesel::insert_into(admin_event::table)
        .values((
            admin_event::at.eq(now),
            admin_event::actor.eq(actor),
            admin_event::action.eq(action),
            admin_event::subject.eq(subject),
            admin_event::detail.eq(detail),
        ))
        .execute(db)?;
    Ok(())
}

/// Removes a deleted subscriber's address from the log.
pub fn forget(db: &mut Db, email: &str) -> Result<(), DatabaseError> {
    const REMOVED: &str = "a removed subscriber";
    diesel::update(admin_event::table.filter(admin_event::subject.eq(email)))
        .set(admin_event::subject.eq(REMOVED))
        .execute(db)?;
    diesel::update(admin_event::table.filter(admin_event::detail.eq(email)))
        .set(admin_event::detail.eq(REMOVED))
        .execute(db)?;
    Ok(())
}
