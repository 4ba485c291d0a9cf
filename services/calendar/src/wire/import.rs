//! What an import of iCalendar did.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

/// What an import did, event by event.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = Import, example = json!({"created": 2, "updated": 0, "unchanged": 40, "skipped": 1,
    "failed": 1, "errors": [{"uid": "7@example.org", "line": 120, "message": "DTSTART is missing"}]}))]
pub struct ImportJson {
    /// Events that are new.
    pub created: u64,
    /// Events that were there and have changed.
    pub updated: u64,
    /// Events that are as the file has them.
    pub unchanged: u64,
    /// Events that are cancelled, or in the trash.
    pub skipped: u64,
    /// Events that cannot be taken over.
    pub failed: u64,
    /// The first of these.
    pub errors: Vec<ImportErrorJson>,
}

impl fmt::Display for ImportJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImportJson { created, updated, unchanged, skipped, failed, .. } = self;
        write!(f, "{created} created, {updated} updated, {unchanged} unchanged, ")?;
        write!(f, "{skipped} skipped, {failed} failed")
    }
}

/// An event that cannot be taken over.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ImportError)]
pub struct ImportErrorJson {
    /// Its UID; empty where it has none.
    pub uid: String,
    /// The line on which it begins.
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
}
