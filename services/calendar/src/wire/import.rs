//! Reports the results of an iCalendar import.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

/// The result of an import.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = Import, example = json!({"created": 2, "updated": 0, "unchanged": 40, "skipped": 1,
    "failed": 1, "errors": [{"uid": "7@example.org", "line": 120, "message": "DTSTART is missing"}],
    "warnings": []}))]
pub struct ImportJson {
    /// Number of events created.
    pub created: u64,
    /// Number of events updated.
    pub updated: u64,
    /// Number of events that already matched the file.
    pub unchanged: u64,
    /// Number of events skipped: events in the trash, cancellations of unknown events, and older
    /// revisions.
    pub skipped: u64,
    /// Number of events that could not be imported.
    pub failed: u64,
    /// Errors of the failed events, up to 1000.
    pub errors: Vec<ImportErrorJson>,
    /// Warnings about ignored or replaced values and about skipped older revisions, up to 1000.
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

/// An error or warning about an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ImportError)]
pub struct ImportErrorJson {
    /// UID of the event; empty if unknown.
    pub uid: String,
    /// Line of the file that the message refers to; 0 for an event that is missing from the file.
    pub line: u64,
    /// Text of the error or warning.
    pub message: String,
}
