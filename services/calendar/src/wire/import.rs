//! Reports the results of an iCalendar import.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

/// The outcomes of an import.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = Import, example = json!({"created": 2, "updated": 0, "unchanged": 40, "skipped": 1,
    "failed": 1, "errors": [{"uid": "7@example.org", "line": 120, "message": "DTSTART is missing"}],
    "warnings": []}))]
pub struct ImportJson {
    /// Created events.
    pub created: u64,
    /// Updated events.
    pub updated: u64,
    /// Events that already match the file.
    pub unchanged: u64,
    /// Events in the trash, cancellations of unknown events, and older revisions.
    pub skipped: u64,
    /// Events that failed.
    pub failed: u64,
    /// The first of the failed events.
    pub errors: Vec<ImportErrorJson>,
    /// The first of the events with replaced values, and of the older revisions.
    pub warnings: Vec<ImportErrorJson>,
    /// Number of warnings, including those not in `warnings`.
    #[serde(skip)]
    pub warned: u64,
}

impl fmt::Display for ImportJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImportJson { created, updated, unchanged, skipped, failed, .. } = self;
        write!(f, "{created} created, {updated} updated, {unchanged} unchanged, ")?;
        write!(f, "{skipped} skipped, {failed} failed")
    }
}

/// A message about an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ImportError)]
pub struct ImportErrorJson {
    /// Its UID, if any.
    pub uid: String,
    /// Its first line.
    pub line: u64,
    /// The error or the warning.
    pub message: String,
}
