//! Combines schemas that apply together, as in `allOf` and next to `$ref`, and reads the result.

use serde_json::{Map, Value, json};

/// Keywords that can't be combined unless their values are equal.
const SINGLE: [&str; 8] =
    ["pattern", "format", "const", "multipleOf", "not", "if", "contains", "prefixItems"];

/// Keywords with schemas that only references lead to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords whose schemas only matter for values with members or items.
const INNER: [&str; 4] = ["properties", "patternProperties", "items", "additionalProperties"];

/// Copies a schema without its definitions. The definitions of a whole document can be large, and a
/// recursive schema refers to the document very often.
pub fn without_definitions(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let kept = members.iter().filter(|(name, _)| !DEFINITIONS.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Copies a schema like [`without_definitions`], with empty schemas for its members and items.
pub fn outline(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let kept = members.iter().filter(|(name, _)| !DEFINITIONS.contains(&name.as_str()));
    let copies = kept.map(|(name, value)| {
        let is_inner = value.is_object() && INNER.contains(&name.as_str());
        (name.clone(), if is_inner { json!({}) } else { value.clone() })
    });
    Value::Object(copies.collect())
}

/// Narrows a schema keyword to what the same keyword in another schema allows, too. Keywords that
/// can't be combined, such as patterns, keep their value. Returns whether the result complies with
/// both schemas.
pub fn narrow(name: &str, known: &mut Value, more: Value) -> bool {
    match (name, known, more) {
        (_, known, more) if *known == more => true,
        ("properties" | "patternProperties", Value::Object(known), Value::Object(more)) => {
            combine(known, more);
            true
        }
        ("required", Value::Array(known), Value::Array(more)) => {
            known.extend(more);
            true
        }
        ("enum", Value::Array(known), Value::Array(more)) => {
            let is_common = |value: &Value| more.contains(value);
            let has_common = known.iter().any(is_common);
            if has_common {
                known.retain(is_common);
            }
            has_common
        }
        ("type", known, more) => match common_types(known, &more) {
            Some(kinds) => {
                *known = kinds;
                true
            }
            None => false,
        },
        (
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties",
            known,
            more,
        ) if known.is_number() && more.is_number() => {
            if more.as_f64() > known.as_f64() {
                *known = more;
            }
            true
        }
        (
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties",
            known,
            more,
        ) if known.is_number() && more.is_number() => {
            if more.as_f64() < known.as_f64() {
                *known = more;
            }
            true
        }
        ("items" | "additionalProperties" | "propertyNames", known, more)
            if !known.is_array() && !more.is_array() =>
        {
            *known = json!({"allOf": [known.take(), more]});
            true
        }
        ("uniqueItems", known, more) => {
            *known = (*known == true || more == true).into();
            true
        }
        ("items" | "exclusiveMinimum" | "exclusiveMaximum", ..) => false,
        (name, ..) => !SINGLE.contains(&name),
    }
}

/// Adds properties. If a property already exists with a different schema, it must satisfy both.
fn combine(known: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, schema) in more {
        match known.get_mut(&name) {
            Some(own) if *own == schema || *own == false => {}
            Some(own) if schema == false => *own = schema,
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

/// Returns whether part of a schema rules out null through its `type`, `enum` or `const`.
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

/// Returns whether an object has to have members.
pub fn has_members(schema: &Value) -> bool {
    schema["required"].as_array().is_some_and(|names| !names.is_empty())
        || schema["minProperties"].as_u64() > Some(0)
}

/// Returns whether a schema allows null.
pub fn may_be_null(schema: &Value) -> bool {
    let is_null = |kinds: &Vec<Value>| kinds.iter().any(|kind| kind == "null");
    schema["type"].as_array().is_some_and(is_null) || schema["nullable"] == true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{narrow, outline, rejects_null, without_definitions};

    #[test]
    fn copy_of_a_schema_has_no_definitions() {
        let schema = json!({
            "definitions": {"a": {}}, "$defs": {"b": {}}, "properties": {"definitions": {}}});
        let expected = json!({"properties": {"definitions": {}}});
        assert_eq!(without_definitions(&schema), expected);
        assert_eq!(without_definitions(&json!(false)), json!(false));
    }

    #[test]
    fn outline_of_a_schema_has_empty_schemas_for_members_and_items() {
        let schema = json!({
            "$defs": {"b": {}}, "properties": {"a": true}, "items": {"type": "string"},
            "not": {"a": 1}, "additionalProperties": false, "required": ["a"]});
        let expected = json!({
            "properties": {}, "items": {}, "not": {"a": 1}, "additionalProperties": false,
            "required": ["a"]});
        assert_eq!(outline(&schema), expected);
        assert_eq!(outline(&json!(false)), json!(false));
    }

    #[test]
    fn narrowed_schema_satisfies_both_schemas() {
        for (name, known, more, expected) in [
            (
                "items",
                json!({"minimum": 1}),
                json!({"maximum": 2}),
                json!({
                "allOf": [{"minimum": 1}, {"maximum": 2}]}),
            ),
            ("uniqueItems", json!(false), json!(true), json!(true)),
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
    fn members_that_satisfy_only_one_schema_are_reported() {
        for (name, known, more, expected) in [
            ("pattern", json!("^a"), json!("b$"), false),
            ("pattern", json!("^a"), json!("^a"), true),
            ("enum", json!(["a"]), json!(["b"]), false),
            ("type", json!("string"), json!("null"), false),
            ("maximum", json!(3), json!(4), true),
            ("title", json!("a"), json!("b"), true),
        ] {
            assert_eq!(narrow(name, &mut known.clone(), more), expected, "{name} {known}");
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
