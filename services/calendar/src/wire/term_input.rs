//! Writes of categories and tags.

use serde_json::Value;

use super::lookup::Lookup;
use super::parameter_errors::ParameterErrors;
use super::parameters::{CategoryFields, TagFields};
use super::params::Params;
use super::reading::{Errors, read_parameters};
use super::values::positive;
use crate::model::html;
use crate::model::term::{Taxonomy, TermChange};

/// Decodes a write. A create requires a name.
///
/// # Errors
/// All missing or invalid parameters.
pub fn decode(
    params: &Params,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
    creating: bool,
) -> Result<TermChange, ParameterErrors> {
    let (given, mut errors) = match taxonomy {
        Taxonomy::Category => read_parameters::<CategoryFields>(params),
        Taxonomy::Tag => {
            let (given, errors) = read_parameters::<TagFields>(params);
            let TagFields { name, description, slug } = given;
            (CategoryFields { name, description, slug, parent: None }, errors)
        }
    };
    if creating {
        errors.require(params);
    }
    let e = &mut errors;
    let name = given.name.map(|name| plain_name(&name.0));
    if name.as_deref() == Some("") {
        e.fail("name", "must not be empty");
    }
    let description = given.description.map(|text| text.0);
    let slug = given.slug.map(|slug| slug.0);
    if creating {
        for (name, text) in [("description", &description), ("slug", &slug)] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                e.fail(name, "must not be empty");
            }
        }
    }
    let parent = given.parent.as_ref().and_then(|value| parent(e, lookup, value));
    let description = description.map(|text| html::sanitize_inline(&text));
    errors.finish(TermChange { name, description, slug, parent })
}

/// Removes markup from a name, which is stored as plain text and escaped when shown.
pub fn plain_name(name: &str) -> String {
    html::decode(&html::strip_tags(name)).trim().to_owned()
}

/// Decodes the id of an existing category, or 0 for the root.
fn parent(errors: &mut Errors, lookup: &mut dyn Lookup, value: &Value) -> Option<i64> {
    let id = match value {
        Value::Number(number) if number.as_i64() == Some(0) => Some(0),
        Value::String(text) if text.trim() == "0" => Some(0),
        other => positive(other),
    };
    let known = id.filter(|id| *id == 0 || lookup.term(Taxonomy::Category, *id));
    if known.is_none() {
        errors.fail("parent", "must be the id of a category");
    }
    known
}
