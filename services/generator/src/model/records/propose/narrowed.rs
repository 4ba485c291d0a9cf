//! Combines schemas that apply together, as in `allOf` and next to `$ref`.

use serde_json::{Map, Value, json};

/// Narrows a member of a schema to values that the same member of another schema allows, too.
/// Members that can't be combined, such as patterns, keep their value.
pub fn narrow(name: &str, known: &mut Value, more: Value) {
    match (name, known, more) {
        ("properties", Value::Object(known), Value::Object(more)) => combine(known, more),
        ("required", Value::Array(known), Value::Array(more)) => known.extend(more),
        ("enum", Value::Array(known), Value::Array(more)) => {
            let is_common = |value: &Value| more.contains(value);
            if known.iter().any(is_common) {
                known.retain(is_common);
            }
        }
        ("type", known, more) => {
            if let Some(kinds) = common_types(known, &more) {
                *known = kinds;
            }
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems", known, more)
            if known.is_number() && more.as_f64() > known.as_f64() =>
        {
            *known = more;
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", known, more)
            if more.is_number() && more.as_f64() < known.as_f64() =>
        {
            *known = more;
        }
        _ => {}
    }
}

/// Adds properties. If a property already exists with a different schema, it must satisfy both.
fn combine(known: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, schema) in more {
        match known.get_mut(&name) {
            Some(own) if *own == schema => {}
            Some(own) => *own = json!({"allOf": [own.take(), schema]}),
            None => {
                known.insert(name, schema);
            }
        }
    }
}

/// Returns the types allowed by both lists, or `None` if there aren't any. An integer also counts
/// as a number.
fn common_types(known: &Value, more: &Value) -> Option<Value> {
    let list = |kinds: &Value| match kinds {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let (known, more) = (list(known), list(more));
    let has = |kinds: &[Value], kind: &Value| {
        kinds.contains(kind) || kind == "integer" && kinds.iter().any(|own| own == "number")
    };
    let mut common: Vec<_> = known.iter().filter(|kind| has(&more, kind)).cloned().collect();
    for kind in more.iter().filter(|kind| has(&known, kind)) {
        if !common.contains(kind) {
            common.push(kind.clone());
        }
    }
    match common.len() {
        0 => None,
        1 => common.pop(),
        _ => Some(common.into()),
    }
}

/// Returns whether part of a schema rules out null by its type, its choices or its constant.
pub fn rejects_null(part: &Map<String, Value>) -> bool {
    let has = |name: &str, null: &Value| match part.get(name) {
        Some(Value::Array(values)) => values.contains(null),
        value => value.is_none_or(|value| value == null),
    };
    let of_type = Value::from("null");
    !has("type", &of_type)
        || !has("enum", &Value::Null)
        || part.get("const").is_some_and(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{narrow, rejects_null};

    #[test]
    fn narrowed_schema_satisfies_both_schemas() {
        for (name, known, more, expected) in [
            ("minimum", json!(1), json!(2.5), json!(2.5)),
            ("minimum", json!(3), json!(2), json!(3)),
            ("maxLength", json!(9), json!(4), json!(4)),
            ("exclusiveMinimum", json!(true), json!(4), json!(true)),
            ("enum", json!(["a", "b"]), json!(["b", "c"]), json!(["b"])),
            ("enum", json!(["a"]), json!(["c"]), json!(["a"])),
            ("type", json!(["string", "null"]), json!("string"), json!("string")),
            ("type", json!("number"), json!("integer"), json!("integer")),
            ("type", json!("boolean"), json!("string"), json!("boolean")),
            ("title", json!("a"), json!("b"), json!("a")),
            (
                "properties",
                json!({"a": {"type": "string"}, "b": {}}),
                json!({"a": {"const": "x"}, "b": {}, "c": {}}),
                json!({"a": {"allOf": [{"type": "string"}, {"const": "x"}]}, "b": {}, "c": {}}),
            ),
        ] {
            let mut narrowed = known.clone();
            narrow(name, &mut narrowed, more);
            assert_eq!(narrowed, expected, "{name} {known}");
        }
    }

    #[test]
    fn types_choices_and_constants_without_null_reject_it() {
        for (part, expected) in [
            (json!({}), false),
            (json!({"minLength": 3}), false),
            (json!({"type": "string"}), true),
            (json!({"type": ["string", "null"], "enum": ["a", null]}), false),
            (json!({"type": ["string", "null"], "enum": ["a"]}), true),
            (json!({"type": "null"}), false),
            (json!({"const": null}), false),
            (json!({"const": ["a"]}), true),
        ] {
            assert_eq!(rejects_null(part.as_object().unwrap()), expected, "{part}");
        }
    }
}
