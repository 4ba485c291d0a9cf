//! Decodes category and tag writes.

use serde_json::Value;

use super::names::{Input, Known, Names};
use super::parameter_errors::ParameterErrors;
use super::parameters::{CategoryFields, TagFields};
use super::params::Params;
use super::reading::{Errors, read_parameters};
use super::values::positive;
use crate::model::html;
use crate::model::term::{Taxonomy, TermChange};
use crate::model::urls::Urls;

/// A category or tag write.
pub struct TermInput {
    creating: bool,
    given: CategoryFields,
    errors: Errors,
}

impl Input for TermInput {
    fn names(&self, _: &Urls) -> Names {
        let mut names = Names::default();
        names.categories.ids.extend(self.given.parent.as_ref().and_then(parent_id));
        names
    }
}

impl TermInput {
    /// Reads the parameters. If `creating` is set, a name is required.
    pub fn read(params: &Params, taxonomy: Taxonomy, creating: bool) -> TermInput {
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
        TermInput { creating, given, errors }
    }

    /// Decodes the request.
    ///
    /// # Errors
    /// Returns all missing or invalid parameters.
    pub fn decode(self, known: &Known) -> Result<TermChange, ParameterErrors> {
        decode(self, known)
    }
}

fn decode(input: TermInput, known: &Known) -> Result<TermChange, ParameterErrors> {
    let TermInput { creating, given, mut errors } = input;
    let e = &mut errors;
    let name = given.name.map(|name| plain_name(&name.0));
    if name.as_deref() == Some("") {
        e.fail("name", "must not be empty");
    }
    let description = given.description.map(|text| text.0);
    let slug = given.slug.map(|slug| slug.0);
    if creating && slug.as_ref().is_some_and(|slug| slug.trim().is_empty()) {
        e.fail("slug", "must not be empty");
    }
    let parent = given.parent.as_ref().and_then(|value| parent(e, known, value));
    let description = description.map(|text| html::sanitize_inline(&text));
    errors.finish(TermChange { name, description, slug, parent })
}

/// Strips markup from a name, because names are stored as plain text and escaped for display.
pub fn plain_name(name: &str) -> String {
    html::decode(&html::strip_tags(name)).trim().to_owned()
}

/// Parses a category id, or 0 for the top level. Returns `None` for anything else.
fn parent_id(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) if number.as_i64() == Some(0) => Some(0),
        Value::String(text) if text.trim() == "0" => Some(0),
        other => positive(other),
    }
}

/// Parses the id of an existing category, or 0 for the top level. For anything else, reports an
/// error and returns `None`.
fn parent(errors: &mut Errors, known: &Known, value: &Value) -> Option<i64> {
    let id = parent_id(value).filter(|id| *id == 0 || known.categories.ids.contains(id));
    if id.is_none() {
        errors.fail("parent", "must be the id of a category");
    }
    id
}
