//! Updates planner statistics after a load.

use database::{DatabaseError, Db};
use diesel::RunQueryDsl;

/// Tables that grow with the number of published resources.
const GROWING: [&str; 14] = [
    "entities",
    "images",
    "events",
    "venues",
    "organizers",
    "terms",
    "event_terms",
    "event_venues",
    "event_organizers",
    "event_changes",
    "event_tombstones",
    "webhooks",
    "webhook_outbox",
    "subscribed_events",
];

/// Gathers statistics and updates the visibility map. Can't run in a transaction.
///
/// PostgreSQL does this on its own, but that can take minutes, and until then the planner uses old
/// statistics. SQLite's planner only looks at the indexes.
pub fn gather(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        let text = format!("vacuum (analyze) {}", GROWING.join(", "));
        diesel::sql_query(text).execute(conn)?;
    }
    Ok(())
}
