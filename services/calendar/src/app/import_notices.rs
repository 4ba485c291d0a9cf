//! Webhook messages about imported series: one for all events written in a transaction.

use database::Db;

use super::import_progress::Progress;
use crate::error::Error;
use crate::model::notice::series_body;
use crate::store::{series_events, webhooks};

/// The state before an entry's events are written.
pub struct Notices {
    last: i64,
    changes: u64,
}

impl Notices {
    pub fn begin(db: &mut Db, so_far: &Progress) -> Result<Notices, Error> {
        Ok(Notices { last: webhooks::last_message(db)?, changes: so_far.changes() })
    }

    /// Replaces all messages about single events that have been added since `self` was created with
    /// one message about the series.
    pub fn combine(self, db: &mut Db, so_far: &Progress, now: i64) -> Result<(), Error> {
        let Some(written) = &so_far.series else { return Ok(()) };
        let changes = so_far.changes() - self.changes;
        if changes == 0 || (changes == 1 && !written.is_new) {
            return Ok(());
        }
        let Some(first) = series_events::members(db, written.id)?.into_iter().next() else {
            return Ok(());
        };
        let kind = if written.is_new { "series.created" } else { "series.changed" };
        let body = series_body(kind, written.id, first.event, now);
        Ok(webhooks::combine_after(db, self.last, &body, now)?)
    }
}
