//! Statistics after many rows came in one load.

use database::{DatabaseError, Db};
use diesel::RunQueryDsl;

/// Tables that grow with what is published.
const GROWING: [&str; 15] = [
    "entities",
    "images",
    "events",
    "venues",
    "organizers",
    "terms",
    "event_terms",
    "event_venues",
    "event_organizers",
    "hour_counts",
    "block_counts",
    "event_changes",
    "event_tombstones",
    "webhooks",
    "webhook_outbox",
];

/// Gathers statistics, and marks the pages that lists may leave unread; outside of any transaction.
///
/// PostgreSQL does both by itself, but up to minutes later, and plans by what it knew before until
/// then. SQLite plans by its indexes alone.
pub fn gather(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        let text = format!("vacuum (analyze) {}", GROWING.join(", "));
        diesel::sql_query(text).execute(conn)?;
    }
    Ok(())
}
