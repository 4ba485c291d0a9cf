//! The report on a domain's new exposures.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::report::Exposures;
use crate::model::{Breach, instant};

/// The new exposures of a domain. `Addresses` comes first and the counts last, because they are known
/// once every address was read.
///
/// Only the document uses it: the answer is streamed.
#[derive(ToSchema)]
#[schema(rename_all = "PascalCase")]
#[allow(dead_code, reason = "responses are assembled from their parts, as described here")]
pub struct ExposureReport {
    /// The domain.
    #[schema(example = "corp.example")]
    domain: String,
    /// New breaches were added at this time or later.
    #[schema(format = DateTime, example = "2026-01-01T00:00:00Z")]
    since: String,
    /// When the report was made.
    #[schema(format = DateTime, example = "2026-03-01T12:00:00Z")]
    until: String,
    /// The addresses in new breaches, by alias.
    addresses: Vec<ReportedAddress>,
    /// The new breaches with addresses of the domain, most addresses first.
    breaches: Vec<ReportedBreach>,
    /// The data classes of these breaches, most addresses first.
    data_classes: Vec<ReportedClass>,
    #[serde(flatten)]
    totals: ReportTotals,
}

/// An address with its new breaches.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportedAddress {
    /// The part before the @.
    #[schema(example = "anna")]
    pub alias: String,
    /// Names of its new breaches.
    #[schema(example = json!(["Acmegram"]))]
    pub breaches: Vec<String>,
    /// Number of all its breaches, new or not. More than one means that it was exposed repeatedly.
    #[schema(example = 2)]
    pub all_breaches: usize,
}

/// A new breach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportedBreach {
    /// Stable key.
    #[schema(example = "Acmegram")]
    pub name: String,
    /// Title.
    #[schema(example = "Acmegram")]
    pub title: String,
    /// Approximate date of the breach.
    #[schema(format = Date, example = "2025-12-01")]
    pub breach_date: String,
    /// When the breach was added.
    #[schema(format = DateTime, example = "2026-01-15T12:00:00Z")]
    pub added_date: String,
    /// Affected classes of data.
    #[schema(example = json!(["Email addresses", "Passwords"]))]
    pub data_classes: Vec<String>,
    /// Number of addresses of the domain in it.
    #[schema(example = 12)]
    pub addresses: i64,
}

impl ReportedBreach {
    pub fn new(breach: &Breach, addresses: i64) -> Self {
        Self {
            name: breach.name.clone(),
            title: breach.title.clone(),
            breach_date: breach.breach_date.clone(),
            added_date: instant::with_zone(breach.added),
            data_classes: breach.data_classes.clone(),
            addresses,
        }
    }
}

/// A data class of new breaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportedClass {
    /// Its name.
    #[schema(example = "Passwords")]
    pub name: String,
    /// Number of addresses for which a new breach contains it.
    #[schema(example = 12)]
    pub addresses: i64,
}

/// The counts of a report.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportTotals {
    /// Addresses of the domain in any breach.
    #[schema(example = 40)]
    pub breached_addresses: i64,
    /// Addresses in new breaches.
    #[schema(example = 12)]
    pub exposed_addresses: i64,
    /// Those of them that were in no breach before.
    #[schema(example = 3)]
    pub first_exposed_addresses: i64,
    /// Those of them that are in several breaches, new or not.
    #[schema(example = 9)]
    pub repeated_addresses: i64,
    /// Pairs of an address and a new breach.
    #[schema(example = 13)]
    pub new_exposures: i64,
}

impl From<&Exposures> for ReportTotals {
    fn from(found: &Exposures) -> Self {
        Self {
            breached_addresses: found.breached,
            exposed_addresses: found.exposed,
            first_exposed_addresses: found.first,
            repeated_addresses: found.repeated,
            new_exposures: found.links,
        }
    }
}
