//! Reports JSON Schema limits that the proposed fields don't comply with.

use serde_json::Value;

use super::column::{Column, Stored};
use super::encodings::is_base64;
use super::formats::fits_pattern;
use super::json_schema::Reader;
use super::satisfied::{others, satisfies};
use crate::model::records::kinds::pattern;

/// The largest integer that every JSON parser represents exactly.
const LARGEST: f64 = 9_007_199_254_740_991.0;
/// Encodings that are satisfied by any string.
const PLAIN: [&str; 3] = ["7bit", "8bit", "binary"];
/// Maximum length of strings other than text made of words.
const LONGEST: u64 = 1_000;
/// Digits of decimals.
const DIGITS: i32 = 15;

impl Reader<'_> {
    /// Reports the property's limits that its column might violate.
    pub fn name_limits(&self, name: &str, property: &Value, column: &Column) {
        if !column.choices.is_empty() {
            return;
        }
        let encoding = property["contentEncoding"].as_str().filter(|_| !is_base64(property));
        if let Some(encoding) = encoding.filter(|encoding| !PLAIN.contains(encoding)) {
            self.note(format!("the encoding {encoding} of {name}, which is not followed"));
        }
        let length = |member: &str| property[member].as_u64();
        if let Some((shortest, longest)) = lengths(&column.stored)
            && (property.get("pattern").is_none() || fits_pattern(property) == Some(true))
            && (length("minLength").is_some_and(|least| least > shortest)
                || length("maxLength").is_some_and(|most| most < longest))
        {
            self.note(format!("the length of {name}, which its format does not give"));
        }
        let is_text = matches!(&column.stored, Stored::Known(field) if field["type"] == "text");
        if let Some(least) = length("minLength")
            && (least > LONGEST && !is_text || length("maxLength").is_some_and(|most| most < least))
        {
            self.note(format!("the length of {name}, which no string has"));
        }
        let number = |member: &str| property[member].as_f64();
        let parts = number("multipleOf").map_or(0.0, |part| column.step() / part);
        if matches!(column.stored, Stored::Integer | Stored::Decimal(_))
            && (parts - parts.round()).abs() > 1e-6
        {
            self.note(format!("the multiples of {name}, none of which are within its bounds"));
        }
        let largest = match column.stored {
            Stored::Integer => LARGEST,
            Stored::Decimal(decimals) => 10_f64.powi(DIGITS - decimals.cast_signed()),
            _ => f64::MAX,
        };
        let is_large = number("minimum").is_some_and(|least| least > largest)
            || number("exclusiveMinimum").is_some_and(|least| least >= largest)
            || number("maximum").is_some_and(|most| most < -largest)
            || number("exclusiveMaximum").is_some_and(|most| most <= -largest);
        if is_large {
            self.note(format!("the bounds of {name}, beyond which numbers are not exact"));
        }
    }

    /// Returns the `enum` values that the property's other keywords allow, or all values if none is
    /// allowed. A `const` makes them redundant, so in this case, the result is empty. Reports a
    /// `const` or `enum` that the other keywords rule out.
    pub fn choices(&self, name: &str, property: &Value) -> Vec<Value> {
        if let Some(constant) = property.get("const") {
            if !satisfies(property, constant) {
                self.note(format!("the constraints of {name} other than its constant"));
            }
            return Vec::new();
        }
        let Some(all) = property["enum"].as_array() else { return Vec::new() };
        let is_allowed = others(property);
        let allowed: Vec<_> = all.iter().filter(|choice| is_allowed(choice)).cloned().collect();
        if allowed.is_empty() && !all.is_empty() {
            self.note(format!("the constraints of {name} other than its choices"));
            return all.clone();
        }
        allowed
    }

    /// Removes and reports bounds that leave no number in between.
    pub fn check_bounds(&self, name: &str, column: &mut Column) {
        let (Some(least), Some(most)) = (column.least, column.most) else { return };
        let units = |bound: f64, round: fn(f64) -> f64| {
            let units = bound / column.step();
            // For example, 0.07 divided by 0.01 is slightly above 7.
            if (units.round() - units).abs() < 1e-6 { units.round() } else { round(units) }
        };
        if column.choices.is_empty() && units(least, f64::ceil) > units(most, f64::floor) {
            self.note(format!("the bounds of {name}, which have no number in between"));
            (column.least, column.most) = (None, None);
        }
    }

    /// Reports limits on the number of properties that the generated object doesn't comply with.
    pub fn name_size(&self, name: &str, schema: &Value) {
        let bound = |member: &str| schema[member].as_u64();
        let (least, most) = (bound("minProperties"), bound("maxProperties"));
        if least.is_none() && most.is_none() {
            return;
        }
        let count = self.properties(schema).len() as u64;
        if least.is_some_and(|least| least > count) || most.is_some_and(|most| most < count) {
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
