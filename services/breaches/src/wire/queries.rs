//! Query parameters. Names are case-insensitive.

use serde::Deserialize;
use utoipa::IntoParams;

/// Query parameters of an account search.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BreachedAccountQuery {
    /// `false` answers with the full breach model; default `true`
    #[serde(rename = "truncateResponse")]
    #[param(value_type = bool, required = false)]
    pub truncate_response: Option<bool>,
    /// Only breaches of this domain, ignoring case
    #[serde(rename = "Domain")]
    #[param(value_type = String, required = false)]
    pub domain: Option<String>,
    /// `false` leaves unverified breaches out; default `true`
    #[serde(rename = "IncludeUnverified")]
    #[param(value_type = bool, required = false)]
    pub include_unverified: Option<bool>,
}

/// Query parameters for listing the catalogue.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BreachesQuery {
    /// Only breaches of this domain, ignoring case
    #[serde(rename = "Domain")]
    #[param(value_type = String, required = false)]
    pub domain: Option<String>,
    /// Only spam lists, or only others
    #[serde(rename = "IsSpamList")]
    #[param(value_type = bool, required = false)]
    pub is_spam_list: Option<bool>,
}

/// Query parameters of a domain report.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// Breaches added at this date, the start of its day in UTC, or at this time, or later
    #[param(value_type = String, format = Date, required = true, example = "2026-01-01")]
    pub since: Option<String>,
}
