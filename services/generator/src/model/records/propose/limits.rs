//! Reports the limits in a JSON Schema that the proposed fields don't satisfy.

use serde_json::Value;

use super::column::{Column, Stored};
use super::encodings::is_base64;
use super::json_schema::Reader;
use crate::model::records::kinds::pattern;

/// The largest integer that every JSON parser represents exactly.
const LARGEST: f64 = 9_007_199_254_740_991.0;
/// Encodings that are satisfied by any string.
const PLAIN: [&str; 3] = ["7bit", "8bit", "binary"];

impl Reader<'_> {
    /// Reports the limits of a property that its column may violate.
    pub fn name_limits(&self, name: &str, property: &Value, column: &Column) {
        self.name_size(name, property);
        if !column.choices.is_empty() {
            return;
        }
        let encoding = property["contentEncoding"].as_str().filter(|_| !is_base64(property));
        if let Some(encoding) = encoding.filter(|encoding| !PLAIN.contains(encoding)) {
            self.note(format!("the encoding {encoding} of {name}, which is not followed"));
        }
        let length = |member: &str| property[member].as_u64();
        if let Some((shortest, longest)) = lengths(&column.stored)
            && property.get("pattern").is_none()
            && (length("minLength").is_some_and(|least| least > shortest)
                || length("maxLength").is_some_and(|most| most < longest))
        {
            self.note(format!("the length of {name}, which its format does not give"));
        }
        let number = |member: &str| property[member].as_f64();
        let is_large = number("minimum").is_some_and(|least| least > LARGEST)
            || number("exclusiveMinimum").is_some_and(|least| least >= LARGEST)
            || number("maximum").is_some_and(|most| most < -LARGEST)
            || number("exclusiveMaximum").is_some_and(|most| most <= -LARGEST);
        if is_large && column.stored == Stored::Integer {
            self.note(format!("the bounds of {name}, beyond which numbers are not exact"));
        }
    }

    /// Reports limits for the number of properties that an object's own properties don't satisfy.
    pub fn name_size(&self, name: &str, schema: &Value) {
        let count = schema["properties"].as_object().map_or(0, |own| own.len() as u64);
        let bound = |member: &str| schema[member].as_u64();
        if bound("minProperties").is_some_and(|least| least > count)
            || bound("maxProperties").is_some_and(|most| most < count)
        {
            self.note(format!("the number of properties of {name}"));
        }
    }
}

/// Returns the minimum and maximum length of a column's strings, if it is determined by their
/// format.
fn lengths(stored: &Stored) -> Option<(u64, u64)> {
    let field = match stored {
        Stored::Date => return Some((10, 10)),
        Stored::Timestamp => return Some((20, 20)),
        Stored::Uuid => return Some((36, 36)),
        Stored::Known(field) => field,
        _ => return None,
    };
    match field["type"].as_str()? {
        "pattern" => pattern::lengths(field["regex"].as_str()?),
        "ip" if field["version"] == 6 => Some((10, 39)),
        "ip" => Some((9, 15)),
        "url" => Some((35, 47)),
        "person" if field["part"] == "email" => Some((12, 64)),
        _ => None,
    }
}
