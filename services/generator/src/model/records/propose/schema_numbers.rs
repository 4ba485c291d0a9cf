//! Numbers in JSON Schemas: decimals, multiples, and counts written as decimals.

use serde_json::Value;

/// Maximum number of multiples to list.
const MULTIPLES: i64 = 1_000;
/// There should be enough decimals for this number of values between two bounds.
const VALUES: f64 = 5.0;
/// Maximum number of decimals.
const DECIMALS: u32 = 9;
/// The largest bound in units of the last decimal, low enough to leave room for larger numbers.
const LARGEST: f64 = 1e14;
/// Schema keywords that contain a count.
const COUNTS: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

/// Converts counts such as `3.0`, which JSON Schema considers integers, to integers.
pub fn with_integral_counts(document: &mut Value) {
    match document {
        Value::Array(items) => items.iter_mut().for_each(with_integral_counts),
        Value::Object(members) => {
            for (name, value) in members {
                let count = value.as_f64().filter(|count| value.is_f64() && count.fract() == 0.0);
                match count.filter(|count| COUNTS.contains(&name.as_str()) && *count >= 0.0) {
                    Some(count) => *value = (count as u64).into(),
                    None => with_integral_counts(value),
                }
            }
        }
        _ => {}
    }
}

/// Lists the multiples of `part` between two bounds. If `part` is one unit of the last decimal, the
/// list is empty, because all numbers are multiples.
pub fn multiples(
    part: f64,
    decimals: u32,
    (least, most): (Option<f64>, Option<f64>),
) -> Vec<Value> {
    let one = power(decimals);
    if part.is_nan() || part <= 0.0 || (part * one - 1.0).abs() < 1e-9 {
        return Vec::new();
    }
    let first = (least.unwrap_or(0.0) / part).ceil();
    let all = (0..MULTIPLES).map(|count| (first + count as f64) * part);
    let all = all.take_while(|value| most.is_none_or(|most| *value <= most));
    // Due to rounding, products such as 3 * 0.1 have more digits than the exact result.
    all.filter_map(|value| format!("{value:.9}").parse::<f64>().ok()).map(Value::from).collect()
}

/// Lists the multiples of the integer `step` between two bounds.
pub fn integer_multiples(step: i64, (least, most): (Option<f64>, Option<f64>)) -> Vec<Value> {
    let most = most.map_or(i64::MAX, |most| most.floor() as i64);
    // If only a maximum is given and it is negative, choose the multiples right below it.
    let below = most.saturating_sub(step.saturating_mul(MULTIPLES - 1));
    let usual = if most < 0 { below } else { 0 };
    let least = least.map_or(usual, |least| least.ceil() as i64);
    let first = least.saturating_add((step - least.rem_euclid(step)) % step);
    let multiples = (0..MULTIPLES).filter_map(|count| first.checked_add(count.checked_mul(step)?));
    multiples.filter(|value| *value <= most).map(Value::from).collect()
}

/// Returns the number of decimals, determined by `multipleOf` if that is a power of ten. Otherwise,
/// there are several values between the bounds, and the bounds don't have too many digits.
pub fn decimals(property: &Value) -> u32 {
    let is_unit = |decimals: &u32| {
        let step = property["multipleOf"].as_f64();
        step.is_some_and(|step| (step * power(*decimals) - 1.0).abs() < 1e-9)
    };
    if let Some(decimals) = (0..=DECIMALS).find(is_unit) {
        return decimals;
    }
    let bound = |names: [&str; 2], tighter: fn(f64, f64) -> f64| {
        names.into_iter().filter_map(|name| property[name].as_f64()).reduce(tighter)
    };
    let least = bound(["minimum", "exclusiveMinimum"], f64::max);
    let most = bound(["maximum", "exclusiveMaximum"], f64::min);
    let width = least.zip(most).map_or(f64::MAX, |(least, most)| most - least);
    let has_values = |decimals: &u32| width * power(*decimals) >= VALUES;
    let is_exact = |decimals: &u32| {
        let units = least.unwrap_or(0.0) * power(*decimals);
        (units - units.round()).abs() < 1e-6
    };
    let places = 2..=DECIMALS;
    let enough = places.clone().find(has_values).or_else(|| places.clone().find(is_exact));
    let furthest = least.unwrap_or(0.0).max(-most.unwrap_or(0.0));
    let is_short = |decimals: &u32| furthest * power(*decimals) <= LARGEST;
    (0..=enough.unwrap_or(DECIMALS)).rev().find(is_short).unwrap_or(0)
}

fn power(decimals: u32) -> f64 {
    10_f64.powi(decimals.cast_signed())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{decimals, integer_multiples, with_integral_counts};

    #[test]
    fn decimals_allow_several_values_between_bounds() {
        for (schema, expected) in [
            (json!({}), 2),
            (json!({"multipleOf": 0.001}), 3),
            (json!({"minimum": 0, "maximum": 1}), 2),
            (json!({"minimum": 0.001, "maximum": 0.011}), 3),
            (json!({"exclusiveMinimum": 0, "exclusiveMaximum": 0.0001}), 5),
            (json!({"minimum": 1.125, "maximum": 1.125}), 3),
            (json!({"minimum": 1e13}), 1),
            (json!({"maximum": -1e15}), 0),
            (json!({"maximum": 1e300}), 2),
        ] {
            assert_eq!(decimals(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn counts_written_as_decimals_become_integers() {
        let mut schema = json!({"properties": {"a": {"maxLength": 3.0, "minimum": 2.0}},
            "minItems": 1.5, "anyOf": [{"minItems": 2.0}]});
        with_integral_counts(&mut schema);
        let expected = json!({"properties": {"a": {"maxLength": 3, "minimum": 2.0}},
            "minItems": 1.5, "anyOf": [{"minItems": 2}]});
        assert_eq!(schema, expected);
    }

    #[test]
    fn multiples_of_integers_are_within_their_bounds() {
        assert_eq!(integer_multiples(5, (Some(7.0), Some(20.0))), [10, 15, 20]);
        assert!(integer_multiples(5, (Some(6.0), Some(9.0))).is_empty());
        assert_eq!(integer_multiples(5, (None, Some(-3.0))).last(), Some(&json!(-5)));
    }
}
