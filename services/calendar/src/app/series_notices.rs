//! Webhook messages about a series that a write splits.

use database::{DatabaseError, Db};

use crate::model::notice::series_body;
use crate::store::{series, webhooks};

/// Replaces the messages of a write with one about the series that ended, and one about the series
/// that begins with this event.
pub fn announce_split(
    db: &mut Db,
    messages: i64,
    ended: i64,
    (new, event): (i64, i64),
    now: i64,
) -> Result<(), DatabaseError> {
    let left = series::members(db, ended)?.pop().map_or(event, |member| member.event);
    let bodies = [
        series_body("series.changed", ended, left, now),
        series_body("series.created", new, event, now),
    ];
    webhooks::replace_after(db, messages, bodies, now)
}
