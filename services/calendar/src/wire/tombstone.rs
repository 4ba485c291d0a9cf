//! Tombstones of events that are no longer visible.

use serde::Serialize;
use utoipa::ToSchema;

use super::dates::written;
use crate::model::changes::Change;
use crate::model::urls::Urls;

/// An event that is no longer visible because it was deleted, hidden or unpublished.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Tombstone)]
pub struct TombstoneJson {
    pub id: i64,
    pub global_id: String,
    /// Time when the event disappeared, in UTC, as YYYY-MM-DD HH:MM:SS.
    pub modified_utc: String,
}

impl TombstoneJson {
    pub fn new(change: &Change, urls: &Urls) -> TombstoneJson {
        TombstoneJson {
            id: change.event,
            global_id: urls.global_id(change.event),
            modified_utc: written(change.at),
        }
    }
}
