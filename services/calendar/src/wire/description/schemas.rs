//! Schemas of parameters as the OpenAPI document shows them.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::Schema;

/// Returns the schema of a parameter as the document shows it: with the description, without a
/// number format, as numbers also come as texts, and without a default of null.
pub fn published(parameter: &Parameter) -> Option<Schema> {
    let Some(RefOr::T(schema)) = &parameter.schema else { return None };
    let mut schema = schema.clone();
    match &mut schema {
        Schema::Object(object) => {
            object.format = None;
            object.default = object.default.take().filter(|value| *value != Value::Null);
            object.description.clone_from(&parameter.description);
        }
        Schema::Array(array) => {
            array.default = None;
            array.description.clone_from(&parameter.description);
        }
        Schema::OneOf(one) => {
            one.default = None;
            one.description.clone_from(&parameter.description);
        }
        _ => {}
    }
    Some(schema)
}

/// Replaces the schema of a query parameter by the one that the document shows.
pub fn publish_query(parameter: &mut Parameter) {
    if parameter.parameter_in == ParameterIn::Query
        && let Some(schema) = published(parameter)
    {
        parameter.schema = Some(RefOr::T(schema));
    }
}
