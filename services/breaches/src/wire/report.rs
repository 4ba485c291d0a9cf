//! The report on a domain's new exposures.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::report::Exposures;
use crate::model::{Breach, instant};

/// A domain's new exposures. The counts come after `Addresses`, because they are only known once
/// all addresses have been read.
// Only the OpenAPI document uses this type: the response is streamed.
#[derive(ToSchema)]
#[schema(rename_all = "PascalCase")]
#[allow(dead_code, reason = "responses are assembled from their parts, as described here")]
pub struct ExposureReport {
    /// The domain.
    #[schema(example = "corp.example")]
    domain: String,
    /// Breaches added at or after this time count as new.
    #[schema(format = DateTime, example = "2026-01-01T00:00:00Z")]
    since: String,
    /// When the report was created.
    #[schema(format = DateTime, example = "2026-03-01T12:00:00Z")]
    until: String,
    /// The addresses in new breaches, sorted by alias.
    addresses: Vec<ReportedAddress>,
    /// The new breaches that contain addresses at the domain, sorted by descending number of
    /// addresses.
    breaches: Vec<ReportedBreach>,
    /// The data classes of these breaches, sorted by descending number of addresses.
    data_classes: Vec<ReportedClass>,
    #[serde(flatten)]
    totals: ReportTotals,
}

/// An address with the new breaches that contain it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportedAddress {
    /// The part of the address before the @.
    #[schema(example = "anna")]
    pub alias: String,
    /// Names of the new breaches that contain the address.
    #[schema(example = json!(["Acmegram"]))]
    pub breaches: Vec<String>,
    /// Total number of breaches that contain the address, including older ones. A number above 1
    /// means that it was exposed repeatedly.
    #[schema(example = 2)]
    pub all_breaches: usize,
}

/// A new breach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportedBreach {
    /// Stable identifier of the breach.
    #[schema(example = "Acmegram")]
    pub name: String,
    /// Title of the breach.
    #[schema(example = "Acmegram")]
    pub title: String,
    /// Approximate date of the breach.
    #[schema(format = Date, example = "2025-12-01")]
    pub breach_date: String,
    /// When the breach was added to the catalogue.
    #[schema(format = DateTime, example = "2026-01-15T12:00:00Z")]
    pub added_date: String,
    /// Exposed data classes.
    #[schema(example = json!(["Email addresses", "Passwords"]))]
    pub data_classes: Vec<String>,
    /// Number of addresses at the domain that are in this breach.
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

/// A data class exposed in new breaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportedClass {
    /// Name of the data class.
    #[schema(example = "Passwords")]
    pub name: String,
    /// Number of addresses in new breaches that exposed this data class.
    #[schema(example = 12)]
    pub addresses: i64,
}

/// A report's totals.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct ReportTotals {
    /// Number of addresses at the domain that are in any breach.
    #[schema(example = 40)]
    pub breached_addresses: i64,
    /// Number of addresses in new breaches.
    #[schema(example = 12)]
    pub exposed_addresses: i64,
    /// Number of these addresses that were not in any breach before.
    #[schema(example = 3)]
    pub first_exposed_addresses: i64,
    /// Number of these addresses that are in more than one breach, including older ones.
    #[schema(example = 9)]
    pub repeated_addresses: i64,
    /// Number of distinct pairs of an address and a new breach.
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
