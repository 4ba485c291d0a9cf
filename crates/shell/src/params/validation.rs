//! Converts `validator` errors to violations under the API's names.

use std::borrow::Cow;

use validator::{ValidationError, ValidationErrors, ValidationErrorsKind};

use crate::Violation;

/// The name under which `validator` reports errors from schema functions.
const WHOLE: &str = "__all__";

/// Adds violations for fields that don't have any yet.
pub(super) fn collect(
    errors: &ValidationErrors,
    declared: &'static [&'static str],
    found: &mut Vec<Violation>,
) {
    let faulty: Vec<String> = found.iter().map(|violation| violation.field.clone()).collect();
    let mut new = Vec::new();
    walk(errors, "", declared, &mut new);
    new.sort_by(|one, other| one.field.cmp(&other.field));
    found.extend(new.into_iter().filter(|violation| !faulty.contains(&violation.field)));
}

fn walk(errors: &ValidationErrors, prefix: &str, declared: &[&str], found: &mut Vec<Violation>) {
    for (name, kind) in errors.errors() {
        let name = match name.as_ref() {
            WHOLE => "",
            name => declared.iter().find(|field| alike(field, name)).copied().unwrap_or(name),
        };
        let field = format!("{prefix}{name}");
        match kind {
            ValidationErrorsKind::Field(list) => {
                found.extend(list.iter().map(|error| violation(error, field.clone())));
            }
            ValidationErrorsKind::Struct(inner) => walk(inner, &format!("{field}."), &[], found),
            ValidationErrorsKind::List(items) => {
                for (index, inner) in items {
                    walk(inner, &format!("{field}[{index}]."), &[], found);
                }
            }
        }
    }
}

fn violation(error: &ValidationError, field: String) -> Violation {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let field = error.params.get("field").and_then(text).unwrap_or(field);
    let message = match &error.message {
        Some(message) => message.to_string(),
        None => format!("{field} is not valid"),
    };
    let limits = error.params.iter().filter(|(name, _)| !matches!(&***name, "value" | "field"));
    Violation {
        limits: limits.map(|(name, value)| (name.clone(), value.clone())).collect(),
        ..Violation::new(field, error.code.clone(), message)
    }
}

/// Returns whether two spellings denote the same field, ignoring case, `-`, `_` and `r#`.
fn alike(one: &str, other: &str) -> bool {
    let letters = |text: &'_ str| -> Vec<u8> {
        let text = text.strip_prefix("r#").unwrap_or(text);
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase()).collect()
    };
    letters(one) == letters(other)
}

/// Creates a violation for a single field, for use in schema functions that compare several fields.
///
/// With `skip_on_field_errors = false`, the function runs even if some fields already have
/// violations.
///
/// ```
/// use serde::Deserialize;
/// use shell::params::{Input, Rules, on_field, read_validated};
/// use validator::{Validate, ValidationError};
///
/// #[derive(Deserialize, Validate)]
/// #[validate(schema(function = "ordered", skip_on_field_errors = false))]
/// struct Parameters {
///     from: Option<u32>,
///     to: Option<u32>,
/// }
///
/// fn ordered(parameters: &Parameters) -> Result<(), ValidationError> {
///     if parameters.from <= parameters.to {
///         return Ok(());
///     }
///     Err(on_field("to", "order", "to must not be below from"))
/// }
///
/// let input = Input::query("from=2&to=1");
/// let violations = read_validated::<Parameters>(&input, &Rules::PLAIN).into_result().err().unwrap();
/// assert_eq!((violations[0].field.as_str(), &*violations[0].code), ("to", "order"));
/// ```
pub fn on_field(
    field: &'static str,
    code: &'static str,
    message: impl Into<Cow<'static, str>>,
) -> ValidationError {
    let mut error = ValidationError::new(code).with_message(message.into());
    error.add_param(Cow::Borrowed("field"), &field);
    error
}
