//! Bodies of requests.

use serde_json::Value;

/// What an operation reads of its body.
pub trait Body {
    /// What there is once it was read.
    type Content;

    /// Reads a body; none when it breaks a rule.
    fn parse(body: &[u8]) -> Option<Self::Content>;
}

/// The member of a JSON object that has a name in any letter case.
pub(super) fn member<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let mut members = object.as_object()?.iter();
    members.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
