//! Extractors whose failures wear the service's error format.

mod body;
mod pairs;
mod path;
mod query;

pub use body::{Json, read_body};
pub use pairs::Pairs;
pub use path::Path;
pub use query::Query;

use validator::{ValidationErrors, ValidationErrorsKind};

use crate::Violation;

/// The violations of a validated value, in the order of their field names.
fn violations(errors: &ValidationErrors) -> Vec<Violation> {
    let mut found = Vec::new();
    collect(errors, "", &mut found);
    found.sort_by(|a, b| a.field.cmp(&b.field));
    found
}

fn collect(errors: &ValidationErrors, prefix: &str, found: &mut Vec<Violation>) {
    for (field, kind) in errors.errors() {
        let field = format!("{prefix}{field}");
        match kind {
            ValidationErrorsKind::Field(list) => found.extend(list.iter().map(|error| {
                Violation {
                    code: error.code.to_string(),
                    message: error
                        .message
                        .as_ref()
                        .map_or_else(|| format!("{field} is not valid"), ToString::to_string),
                    field: field.clone(),
                }
            })),
            ValidationErrorsKind::Struct(inner) => collect(inner, &format!("{field}."), found),
            ValidationErrorsKind::List(items) => {
                for (index, inner) in items {
                    collect(inner, &format!("{field}[{index}]."), found);
                }
            }
        }
    }
}

/// A violation of the whole part, for faults that name no field.
fn whole(message: impl ToString) -> Vec<Violation> {
    vec![Violation { field: String::new(), code: "invalid".into(), message: message.to_string() }]
}
