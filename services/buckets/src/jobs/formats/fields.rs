//! Attribute names in listings, and how to parse the values.

use super::values;
use crate::model::{Attribute, Attributes};

/// Element name in S3 listings.
pub(super) fn s3_element(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Size => "Size",
        Attribute::LastModified => "LastModified",
    }
}

/// Element name in Azure listings.
pub(super) fn azure_element(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Size => "Content-Length",
        Attribute::LastModified => "Last-Modified",
    }
}

/// Column names in tables. NDJSON uses the same names for fields.
pub(super) fn headers(attribute: Attribute) -> [&'static str; 2] {
    match attribute {
        Attribute::Size => ["size", "Size"],
        Attribute::LastModified => ["lastModified", "LastModified"],
    }
}

/// Returns `true` if files can't be accepted without this attribute.
pub(super) fn is_required(attribute: Attribute) -> bool {
    match attribute {
        Attribute::Size => true,
        Attribute::LastModified => false,
    }
}

fn value(attribute: Attribute, text: &str) -> Result<i64, &'static str> {
    match attribute {
        Attribute::Size => values::size(text),
        Attribute::LastModified => values::date(text),
    }
}

/// Converts a value to a form that [`read`] can parse.
pub(in crate::jobs) fn exported(attribute: Attribute, value: i64) -> serde_json::Value {
    match attribute {
        Attribute::Size => value.into(),
        Attribute::LastModified => values::exported_date(value),
    }
}

/// Finds an attribute by its name, according to `names`.
pub(super) fn named(name: &str, names: fn(Attribute) -> &'static str) -> Option<Attribute> {
    Attribute::ALL.into_iter().find(|attribute| names(*attribute) == name)
}

/// Returns `true` if `element` contains the ETag in S3 or Azure listings.
pub(super) fn is_etag(element: &str) -> bool {
    element.eq_ignore_ascii_case("ETag")
}

/// Trims an ETag. Returns `None` if it is empty.
pub(super) fn etag(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Trims all values.
pub(super) fn trimmed(texts: &Attributes<Option<String>>) -> Attributes<Option<&str>> {
    Attributes::from_fn(|attribute| texts[attribute].as_deref().map(str::trim))
}

/// Parses an entry's attributes, or returns a description of the problem. `names` maps attributes
/// to names.
pub(super) fn read(
    texts: &Attributes<Option<impl AsRef<str>>>,
    names: fn(Attribute) -> &'static str,
) -> Result<Attributes, String> {
    Attributes::try_from_fn(|attribute| match &texts[attribute] {
        Some(text) => value(attribute, text.as_ref()).map_err(str::to_owned),
        None if is_required(attribute) => Err(format!("the field {} is missing", names(attribute))),
        None => Ok(0),
    })
}
