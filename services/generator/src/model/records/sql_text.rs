//! Finds the character U+0000 in a schema, because it cannot be expressed in SQL.

use serde_json::Value;

use super::fault::Faults;
use super::kinds::pattern;

const TEXT: &str =
    "contains the character U+0000, which SQL cannot express: use json, ndjson or csv";

/// Reports an error for each string in a schema that contains the character, and for each pattern
/// that can generate it. `classes` is the cost of the character classes in all patterns so far.
pub fn find_nul(value: &Value, pointer: &str, classes: &mut u64, faults: &mut Faults) {
    match value {
        Value::String(text) => {
            let is_pattern = pointer.ends_with("/regex");
            if text.contains('\0') || is_pattern && pattern::can_have_nul(text, classes) {
                faults.add(pointer, TEXT);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                find_nul(item, &format!("{pointer}/{place}"), classes, faults);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                find_nul(member, &format!("{pointer}/{name}"), classes, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
