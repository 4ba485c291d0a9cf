//! Path parameters.

use serde::Deserialize;
use utoipa::IntoParams;

/// The id in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "names the parameter for the documentation")]
pub struct Id {
    /// Item id.
    #[param(minimum = 1)]
    id: i64,
}

/// The slug in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "names the parameter for the documentation")]
pub struct Slug {
    /// Item slug.
    slug: String,
}

/// Parses an id from a path. The route only matches digits, so parsing can only fail if the number
/// is too large. In that case, returns an id that can't exist.
pub fn parse_id(digits: &str) -> i64 {
    digits.parse().unwrap_or(0)
}
