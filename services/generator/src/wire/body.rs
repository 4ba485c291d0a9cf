//! How bodies are read, and the body of a text.

use serde::Deserialize;
use serde_json::Value;
use shell::Violation;
use shell::params::{self, Input, Reading};
use utoipa::ToSchema;
use validator::Validate;

use super::rules::BODY_RULES;

/// Levels of arrays and objects inside each other that a body may have.
pub const DEEPEST: usize = 32;

/// A request with a body, whose violations are answered with those of the query.
pub trait BodyRequest: Sized {
    /// Reads query and body.
    ///
    /// # Errors
    /// The violations of both; those of the body as a whole come first.
    fn read(query: &str, body: &[u8]) -> Result<Self, Vec<Violation>>;
}

/// The members of a body.
///
/// # Errors
/// What is wrong with the body as a whole.
pub fn members(body: &[u8]) -> Result<Vec<(String, Value)>, Violation> {
    params::members(body, DEEPEST).map_err(of_body)
}

/// What a reading gives, with the violations of unknown members apart.
pub type Members<T> = (Option<T>, Vec<Violation>, Vec<Violation>);

/// The value of a body, the violations of its unknown members, and the others.
pub fn value_of<T>(reading: Reading<T>) -> Members<T> {
    let found = reading.violations.into_iter().map(of_body);
    let (unknown, others) = found.partition(|violation| violation.code == "unknown");
    (reading.value, unknown, others)
}

/// A violation of the body under the name that the contract gives its field: members in PascalCase,
/// the syntax and unknown members as paths.
fn of_body(violation: Violation) -> Violation {
    let field = match (&*violation.code, violation.field.as_str()) {
        ("empty", _) => String::new(),
        ("unknown" | "type", field) => format!("$.{field}"),
        (_, "") => "$".to_owned(),
        (_, field) => field[..1].to_ascii_uppercase() + &field[1..],
    };
    Violation { field, ..violation }
}

/// Body of the operations that change a text.
#[derive(Default, Deserialize, Validate, ToSchema)]
pub struct TextDto {
    /// Text; null is the empty one.
    #[schema(nullable = true, example = "orderIdNotFound")]
    pub text: Option<String>,
}

impl TextDto {
    /// Reads a body together with what was wrong with the query.
    ///
    /// # Errors
    /// All violations.
    pub fn read(body: &[u8], query: Vec<Violation>) -> Result<String, Vec<Violation>> {
        let members = match members(body) {
            Ok(members) => members,
            Err(broken) => return Err([vec![broken], query].concat()),
        };
        let input = Input::members(members.iter().map(|(name, value)| (name, value)));
        let (dto, unknown, others) = value_of(params::read::<Self>(&input, &BODY_RULES));
        let violations = [unknown, query, others].concat();
        match violations.is_empty() {
            true => Ok(dto.and_then(|dto| dto.text).unwrap_or_default()),
            false => Err(violations),
        }
    }
}
