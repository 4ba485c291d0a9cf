//! Reads strings that encode bytes, and proposes fields for them.

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

/// Decodes percent-encoded bytes in the fragment of a URI.
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
