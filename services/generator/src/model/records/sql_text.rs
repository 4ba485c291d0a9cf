//! Converts a schema's names to SQL, and finds strings that SQL can't express.

use serde_json::Value;

use super::fault::Faults;
use super::kinds::pattern;

const TEXT: &str =
    "contains the character U+0000, which SQL cannot express: use json, ndjson or csv";

/// Quotes a table name for SQL. In a name such as `app.users`, the schema and the table are quoted
/// separately. Nothing has to be escaped, because names can't contain quotes.
pub fn sql_name(table: &str) -> String {
    match table.split_once('.') {
        Some((schema, name)) if !schema.is_empty() && !name.is_empty() && !name.contains('.') => {
            format!("\"{schema}\".\"{name}\"")
        }
        _ => format!("\"{table}\""),
    }
}

/// Reports an error for each string in a schema that contains U+0000, and for each pattern that can
/// generate it. `classes` is the cost of the character classes in all patterns so far.
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

#[cfg(test)]
mod tests {
    use super::sql_name;

    #[test]
    fn schema_and_table_are_quoted_separately() {
        for (name, expected) in [
            ("users", "\"users\""),
            ("app.users", "\"app\".\"users\""),
            ("a.b.c", "\"a.b.c\""),
            (".a", "\".a\""),
            ("a.", "\"a.\""),
        ] {
            assert_eq!(sql_name(name), expected, "{name}");
        }
    }
}
