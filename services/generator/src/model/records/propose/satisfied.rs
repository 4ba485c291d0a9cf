//! A minimal JSON Schema validator, which doesn't look at the items of arrays or at the values of
//! object members.

use regex_automata::meta::Regex;
use serde_json::Value;

/// Returns whether a value complies with a schema's type, bounds, lengths, pattern, `enum` and
/// `const`. The schema must not contain references. Patterns that can't be parsed are ignored.
pub fn satisfies(schema: &Value, value: &Value) -> bool {
    if value.is_null() && schema["nullable"] == true {
        return true;
    }
    let is_choice = match &schema["enum"] {
        Value::Array(choices) => choices.iter().any(|choice| is_equal(choice, value)),
        _ => true,
    };
    is_choice && others(schema)(value)
}

/// Returns a test like [`satisfies`], but without `enum`. It can be used for many values, as it
/// parses the pattern only once.
pub fn others(schema: &Value) -> impl Fn(&Value) -> bool {
    let regex = schema["pattern"].as_str().and_then(|regex| Regex::new(regex).ok());
    move |value| {
        let is_constant = schema.get("const").is_none_or(|constant| is_equal(constant, value));
        value.is_null() && schema["nullable"] == true
            || *schema != false
                && has_type(schema, value)
                && is_constant
                && fits(schema, regex.as_ref(), value)
    }
}

/// Returns whether a value complies with a schema's bounds, lengths and pattern.
fn fits(schema: &Value, regex: Option<&Regex>, value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_none_or(|number| has_bounds(schema, number)),
        Value::String(text) => {
            let letters = text.chars().count() as u64;
            has_size(schema, ["minLength", "maxLength"], letters)
                && regex.is_none_or(|regex| regex.is_match(text))
        }
        Value::Array(items) => has_size(schema, ["minItems", "maxItems"], items.len() as u64),
        Value::Object(members) => {
            let names = schema["required"].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).all(|name| members.contains_key(name))
        }
        _ => true,
    }
}

/// Returns whether a schema allows the type of a value.
fn has_type(schema: &Value, value: &Value) -> bool {
    let is_kind = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is_kind),
        kind => is_kind(kind),
    }
}

fn has_bounds(schema: &Value, number: f64) -> bool {
    let bound = |name: &str| schema[name].as_f64();
    // In draft 4 and OpenAPI 3.0, the exclusive bounds are flags.
    let is_above = |least: f64| match schema["exclusiveMinimum"] == true {
        true => number > least,
        false => number >= least,
    };
    let is_below = |most: f64| match schema["exclusiveMaximum"] == true {
        true => number < most,
        false => number <= most,
    };
    bound("minimum").is_none_or(is_above)
        && bound("maximum").is_none_or(is_below)
        && bound("exclusiveMinimum").is_none_or(|least| number > least)
        && bound("exclusiveMaximum").is_none_or(|most| number < most)
        && bound("multipleOf").is_none_or(|step| {
            let count = number / step;
            (count - count.round()).abs() < 1e-6
        })
}

fn has_size(schema: &Value, [least, most]: [&str; 2], size: u64) -> bool {
    schema[least].as_u64().is_none_or(|least| size >= least)
        && schema[most].as_u64().is_none_or(|most| size <= most)
}

/// Compares values as JSON Schema does, where 1 and 1.0 are equal.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{others, satisfies};

    #[test]
    fn values_have_to_satisfy_every_member() {
        for (schema, value, expected) in [
            (json!(false), json!(1), false),
            (json!(true), json!(1), true),
            (json!({"type": "string"}), json!(1), false),
            (json!({"type": ["string", "integer"]}), json!(1.0), true),
            (json!({"type": "string", "nullable": true}), json!(null), true),
            (json!({"type": "string"}), json!(null), false),
            (json!({"maxLength": 1}), json!("äb"), false),
            (json!({"minLength": 2}), json!("äb"), true),
            (json!({"maxLength": 1}), json!(123), true),
            (json!({"pattern": "^a"}), json!("ba"), false),
            (json!({"pattern": "(?!b)"}), json!("a"), true),
            (json!({"minimum": 2, "exclusiveMinimum": true}), json!(2), false),
            (json!({"exclusiveMaximum": 2}), json!(1.5), true),
            (json!({"multipleOf": 0.1}), json!(0.3), true),
            (json!({"multipleOf": 2}), json!(3), false),
            (json!({"enum": [1, "a"]}), json!(1.0), true),
            (json!({"const": "a"}), json!("b"), false),
            (json!({"required": ["a"]}), json!({"b": 1}), false),
            (json!({"maxItems": 1}), json!([1, 2]), false),
        ] {
            assert_eq!(satisfies(&schema, &value), expected, "{schema} {value}");
        }
    }

    #[test]
    fn choices_are_not_among_the_other_members() {
        let schema = json!({"enum": ["a"], "pattern": "^[bc]", "nullable": true, "maxLength": 2});
        let is_allowed = others(&schema);
        for (value, expected) in
            [(json!("bx"), true), (json!("a"), false), (json!("cxx"), false), (json!(null), true)]
        {
            assert_eq!(is_allowed(&value), expected, "{value}");
        }
    }
}
