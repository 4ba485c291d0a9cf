//! Statistics after many rows came in one load.

use std::thread;
use std::time::Duration;

use database::{DatabaseError, Db};
use diesel::RunQueryDsl;
use diesel::sql_types::Bool;

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

/// How often pages are marked before what is missing is left to PostgreSQL itself.
const ATTEMPTS: usize = 3;
/// How long others have to end what keeps pages from being marked, such as their own statistics.
const PAUSE: Duration = Duration::from_secs(2);

/// Whether lists may leave nearly all pages of the events unread.
const IS_MARKED: &str =
    "select relallvisible >= relpages * 0.9 as marked from pg_class where oid = 'events'::regclass";

#[derive(diesel::QueryableByName)]
struct Marked {
    #[diesel(sql_type = Bool)]
    marked: bool,
}

/// Gathers statistics, and marks the pages that lists may leave unread; outside of any transaction.
///
/// PostgreSQL does both by itself, but up to minutes later, and plans by what it knew before until
/// then. SQLite plans by its indexes alone.
pub fn gather(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Pg(conn) = db else { return Ok(()) };
    for attempt in 1..=ATTEMPTS {
        diesel::sql_query(format!("vacuum (analyze) {}", GROWING.join(", "))).execute(conn)?;
        let Marked { marked } = diesel::sql_query(IS_MARKED).get_result(conn)?;
        if marked {
            break;
        }
        if attempt < ATTEMPTS {
            thread::sleep(PAUSE);
        }
    }
    Ok(())
}
