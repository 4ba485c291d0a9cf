//! Proposes fields for strings that encode bytes.

use serde_json::{Value, json};

/// Maximum number of base64 groups of four characters each.
const GROUPS: u64 = 250;

/// Returns whether a schema requires base64.
pub fn is_base64(schema: &Value) -> bool {
    let encoding = schema["contentEncoding"].as_str().unwrap_or_default();
    schema["format"] == "byte" || encoding.eq_ignore_ascii_case("base64")
}

/// Returns a field for base64 strings of a length that a schema allows.
pub fn base64(schema: &Value) -> Value {
    let length = |member: &str| schema[member].as_u64();
    let least = length("minLength").unwrap_or(0).div_ceil(4).clamp(1, GROUPS);
    let most = length("maxLength").map_or(least.max(6), |most| most / 4).clamp(least, GROUPS);
    let regex = format!("([A-Za-z0-9+/]{{4}}){{{least},{most}}}");
    json!({"type": "pattern", "regex": regex})
}
