//! How listings name the attributes of files, and what their texts mean.

use super::values;
use crate::model::{Attribute, Attributes};

/// The element of an S3 listing.
pub(super) fn s3_element(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Size => "Size",
        Attribute::LastModified => "LastModified",
    }
}

/// The element of an Azure listing.
pub(super) fn azure_element(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Size => "Content-Length",
        Attribute::LastModified => "Last-Modified",
    }
}

/// The headers of a table that stand for the attribute, and the members of a line of NDJSON.
pub(super) fn headers(attribute: Attribute) -> [&'static str; 2] {
    match attribute {
        Attribute::Size => ["size", "Size"],
        Attribute::LastModified => ["lastModified", "LastModified"],
    }
}

/// Whether a file without the attribute is bad.
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

/// The attribute that a name stands for; `names` gives the name of each.
pub(super) fn named(name: &str, names: fn(Attribute) -> &'static str) -> Option<Attribute> {
    Attribute::ALL.into_iter().find(|attribute| names(*attribute) == name)
}

/// Texts without the white space around them.
pub(super) fn trimmed(texts: &Attributes<Option<String>>) -> Attributes<Option<&str>> {
    Attributes::from_fn(|attribute| texts[attribute].as_deref().map(str::trim))
}

/// Reads the texts of an entry, or says what is wrong with it; `names` gives the name of each.
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
