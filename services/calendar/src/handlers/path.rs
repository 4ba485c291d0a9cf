//! Parameters in paths.

use serde::Deserialize;
use utoipa::IntoParams;

/// The id in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "names the parameter for the documentation")]
pub struct Id {
    /// Id of the item.
    #[param(minimum = 1)]
    id: i64,
}

/// The slug in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "names the parameter for the documentation")]
pub struct Slug {
    /// Slug of the item.
    slug: String,
}

/// Parses the digits in a path. A number that is too large becomes an id that does not exist.
pub fn parse_id(digits: &str) -> i64 {
    digits.parse().unwrap_or(0)
}
