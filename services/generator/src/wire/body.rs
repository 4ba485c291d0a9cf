//! Parses request bodies, including those of the text transformations.

use serde::Deserialize;
use serde_json::Value;
use shell::Violation;
use shell::params::{self, Input, Reading};
use utoipa::ToSchema;
use validator::Validate;

use super::rules::BODY_RULES;

/// Maximum nesting depth of a body.
pub const DEEPEST: usize = 32;

/// A request with a body. Reports violations in the query and the body together.
pub trait BodyRequest: Sized {
    /// Parses the query and the body.
    ///
    /// # Errors
    /// Returns all violations in either, starting with any that concern the body as a whole.
    fn read(query: &str, body: &[u8]) -> Result<Self, Vec<Violation>>;
}

/// Returns the members of a body.
///
/// # Errors
/// Returns a violation if the body as a whole is invalid.
pub fn members(body: &[u8]) -> Result<Vec<(String, Value)>, Violation> {
    params::members(body, DEEPEST).map_err(of_body)
}

/// A parsed value, followed by the violations for unknown members and all other violations.
pub type Members<T> = (Option<T>, Vec<Violation>, Vec<Violation>);

/// Separates the violations for unknown members from the rest.
pub fn value_of<T>(reading: Reading<T>) -> Members<T> {
    let found = reading.violations.into_iter().map(of_body);
    let (unknown, others) = found.partition(|violation| violation.code == "unknown");
    (reading.value, unknown, others)
}

/// Renames the field of a violation as required by the API contract: members are in PascalCase, but
/// syntax errors and unknown members are identified by a path.
fn of_body(violation: Violation) -> Violation {
    let field = match (&*violation.code, violation.field.as_str()) {
        ("empty", _) => String::new(),
        ("unknown" | "type", field) => format!("$.{field}"),
        (_, "") => "$".to_owned(),
        (_, field) => field[..1].to_ascii_uppercase() + &field[1..],
    };
    Violation { field, ..violation }
}

/// Request body of the text transformations.
#[derive(Default, Deserialize, Validate, ToSchema)]
pub struct TextDto {
    /// Text to transform. Null is treated as an empty string.
    #[schema(nullable = true, example = "orderIdNotFound")]
    pub text: Option<String>,
}

impl TextDto {
    /// Parses a body. The violations in the query are included in the result.
    ///
    /// # Errors
    /// Returns all violations.
    pub fn read(body: &[u8], query: Vec<Violation>) -> Result<String, Vec<Violation>> {
        let members = match members(body) {
            Ok(members) => members,
            Err(broken) => return Err([vec![broken], query].concat()),
        };
        let input = Input::members(members.iter().map(|(name, value)| (name, value)));
        let (dto, unknown, others) = value_of(params::read_validated::<Self>(&input, &BODY_RULES));
        let violations = [unknown, query, others].concat();
        match violations.is_empty() {
            true => Ok(dto.and_then(|dto| dto.text).unwrap_or_default()),
            false => Err(violations),
        }
    }
}
