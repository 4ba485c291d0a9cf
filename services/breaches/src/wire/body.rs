//! Request bodies.

use serde_json::Value;

/// The body of an operation.
pub trait Body {
    /// Parsed content.
    type Content;

    /// Maximum size in bytes.
    const LIMIT: usize = 16 * 1024;

    /// Parses a body. Returns `None` if it's invalid.
    fn parse(body: &[u8]) -> Option<Self::Content>;
}

/// Looks up a member of a JSON object, ignoring case.
pub(super) fn member<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let mut members = object.as_object()?.iter();
    members.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
