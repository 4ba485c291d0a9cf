//! The sizes of JSON values, as a measure of how long it takes to copy them.

use serde_json::Value;

/// Number of bytes of a string that take as long to copy as a short value.
const LETTERS_OF_A_PART: usize = 64;

/// Returns the number of parts of a value. Long strings count as several.
pub fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(|own| 1 + size(own)).sum::<usize>(),
        Value::String(text) => 1 + text.len() / LETTERS_OF_A_PART,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::size;

    #[test]
    fn members_items_and_long_strings_count() {
        let long = "x".repeat(200);
        for (value, expected) in [
            (json!(null), 1),
            (json!("text"), 1),
            (json!(long), 4),
            (json!([1, [2]]), 4),
            (json!({"a": {"b": 1}, "c": []}), 7),
        ] {
            assert_eq!(size(&value), expected, "{value}");
        }
    }
}
