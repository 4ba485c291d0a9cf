//! Query parameters. Names are case-insensitive.

use serde::Deserialize;
use utoipa::IntoParams;

/// Query parameters of an account search.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BreachedAccountQuery {
    /// Whether to return only the names of breaches. Set to `false` to return all attributes.
    /// Defaults to `true`.
    #[serde(rename = "truncateResponse")]
    #[param(value_type = bool, required = false)]
    pub truncate_response: Option<bool>,
    /// Return only breaches of the website with this domain. Case is ignored.
    #[serde(rename = "Domain")]
    #[param(value_type = String, required = false)]
    pub domain: Option<String>,
    /// Whether to include unverified breaches. Defaults to `true`.
    #[serde(rename = "IncludeUnverified")]
    #[param(value_type = bool, required = false)]
    pub include_unverified: Option<bool>,
}

/// Query parameters for listing the catalogue.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BreachesQuery {
    /// Return only breaches of the website with this domain. Case is ignored.
    #[serde(rename = "Domain")]
    #[param(value_type = String, required = false)]
    pub domain: Option<String>,
    /// If `true`, return only spam lists; if `false`, return all other breaches. If omitted, return
    /// both.
    #[serde(rename = "IsSpamList")]
    #[param(value_type = bool, required = false)]
    pub is_spam_list: Option<bool>,
}

/// Query parameters of a domain report.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// Include breaches added at or after this date or time. A date means the start of that day in
    /// UTC.
    #[param(value_type = String, format = Date, required = true, example = "2026-01-01")]
    pub since: Option<String>,
}
