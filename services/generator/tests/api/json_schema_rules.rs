//! Rules of JSON Schemas, which proposals follow or report.

use serde_json::{Value, json};
use testkit::{Folder, Program};

use crate::proposals::Proposal;

#[test]
fn only_one_alternative_of_one_of_applies_to_a_row() {
    let texts = json!({"id": {"type": "string"}, "url": {"type": "string"}});
    let either = json!([{"required": ["id"]}, {"required": ["url"]}]);
    let made = Proposal::json(&json!({"properties": {
        "link": {"type": "object", "properties": texts, "oneOf": either}}}));
    assert_eq!(made.broken, "");
    let has = |name: &str| made.values("link").iter().any(|link| link[name].is_string());
    assert!(has("id") && has("url"));
    assert!(made.values("link").iter().all(|link| link.as_object().unwrap().len() == 1));
    let made = Proposal::json(&json!({"properties": texts, "oneOf": either}));
    for row in made.rows.as_array().unwrap() {
        assert_ne!(row["id"].is_string(), row["url"].is_string(), "{row}");
    }
    // Alternatives of `anyOf` may apply together.
    let made = Proposal::json(&json!({"properties": texts, "anyOf": either}));
    let is_whole = |row: &Value| row["id"].is_string() && row["url"].is_string();
    assert!(made.rows.as_array().unwrap().iter().all(is_whole));
}

#[test]
fn overlapping_alternatives_of_one_of_are_reported() {
    let either = |first: Value, second: Value| {
        let document = json!({"properties": {"x": {"oneOf": [first, second]}}});
        Proposal::json(&document).broken
    };
    let report = "the rows may violate the constraint oneOf of x, whose alternatives overlap\n";
    for (first, second, expected) in [
        (
            json!({"type": "string", "minLength": 3}),
            json!({"type": "string", "maxLength": 5}),
            report,
        ),
        (json!({"type": "string", "minLength": 3}), json!({"type": "string", "maxLength": 2}), ""),
        (json!({"type": "integer"}), json!({"type": "number", "minimum": 5}), report),
        (json!({"type": "integer", "maximum": 4}), json!({"type": "number", "minimum": 5}), ""),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]}), report),
        (json!({"required": ["a"]}), json!({"required": ["a", "b"]}), report),
    ] {
        assert_eq!(either(first.clone(), second.clone()), expected, "{first} {second}");
    }
}

#[test]
fn requirements_below_the_deepest_level_are_reported() {
    let deep = |mut schema: Value| {
        for _ in 0..4 {
            schema = json!({"type": "object", "required": ["o"], "properties": {"o": schema}});
        }
        Proposal::json(&schema).broken
    };
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let mut longer = list.clone();
    longer["minItems"] = 1.into();
    let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let mut stricter = object.clone();
    stricter["required"] = json!(["a"]);
    assert_eq!(deep(json!({"type": "integer"})), "");
    for (schema, text) in [
        (json!({"properties": {"o": list}}), ""),
        (json!({"required": ["o"], "properties": {"o": longer}}), "the number of items in o"),
        (json!({"properties": {"o": object}}), ""),
        (json!({"required": ["o"], "properties": {"o": stricter}}), "the properties of o"),
    ] {
        let broken = deep(schema.clone());
        assert_eq!(broken.is_empty(), text.is_empty(), "{schema}: {broken}");
        assert!(broken.contains(text), "{schema}: {broken}");
    }
}

#[test]
fn required_properties_that_are_not_declared_are_generated() {
    let made = Proposal::json(&json!({"required": ["kind", "x-size"], "properties": {
        "map": {"type": "object", "required": ["kind", "size"],
            "additionalProperties": {"type": "integer"}},
        "closed": {"type": "object", "required": ["a"], "additionalProperties": false}},
        "patternProperties": {"^x-": {"type": "boolean"}}, "additionalProperties": false}));
    for row in made.rows.as_array().unwrap() {
        assert!(row["map"]["kind"].is_i64() && row["map"]["size"].is_i64(), "{row}");
        assert!(row["x-size"].is_boolean() && row.get("kind").is_none(), "{row}");
    }
    for name in ["a", "kind"] {
        let text = format!("the required property {name}, which its schema forbids");
        assert!(made.broken.contains(&text), "{}", made.broken);
    }
    assert_eq!(made.broken.lines().count(), 2, "{}", made.broken);
    let made = Proposal::json(&json!({"required": ["label"]}));
    assert!(made.values("label").iter().all(Value::is_string));
}

#[test]
fn boolean_schemas_and_nested_nulls_are_followed() {
    let made = Proposal::json(&json!({"properties": {
        "q": false, "r": {"allOf": [{"type": "string"}, false]}, "any": true,
        "none": {"items": false}, "either": {"anyOf": [false, {"type": "boolean"}]},
        "null": {"anyOf": [{"anyOf": [{"type": "null"}]}]}, "only": {"type": ["null"]}}}));
    for row in made.rows.as_array().unwrap() {
        assert!(row.get("q").is_none() && row.get("r").is_none(), "{row}");
        assert!(row.get("any").is_some() && row["either"].is_boolean(), "{row}");
        assert_eq!((&row["none"], &row["null"]), (&json!([]), &Value::Null), "{row}");
        assert!(row["only"].is_null(), "{row}");
    }
    assert_eq!(made.broken, "");
    let made = Proposal::json(&json!({"properties": {
        "none": {"type": "array", "items": false, "minItems": 2}}}));
    assert!(made.broken.contains("the number of items in none"), "{}", made.broken);
}

#[test]
fn choices_lengths_and_names_satisfy_all_members() {
    let made = Proposal::json(&json!({
        "patternProperties": {"^n_": {"maximum": 3}}, "propertyNames": {"maxLength": 7},
        "properties": {
            "short": {"type": "string", "maxLength": 3.0}, "empty": {"type": "string", "maxLength": 0},
            "few": {"type": "string", "enum": ["a", "bb", 3, "ccc"], "maxLength": 2, "pattern": "^b"},
            "n_size": {"type": "integer", "minimum": 2}, "far_longer": {"type": "boolean"},
            "never": {"enum": ["a"], "minLength": 2}}}));
    for row in made.rows.as_array().unwrap() {
        assert!(row["short"].as_str().unwrap().len() <= 3, "{row}");
        assert_eq!((&row["empty"], &row["few"]), (&json!(""), &json!("bb")), "{row}");
        assert!((2..=3).contains(&row["n_size"].as_i64().unwrap()), "{row}");
    }
    let expected = "the rows may violate the constraint propertyNames, which far_longer does not satisfy\n\
        the rows may violate the constraints of never other than its choices\n";
    assert_eq!(made.broken, expected);
}

#[test]
fn numbers_have_as_many_decimals_as_their_bounds_need() {
    let made = Proposal::json(&json!({"properties": {
        "rate": {"type": "number", "minimum": 0.001, "maximum": 0.009},
        "large": {"type": "number", "minimum": 1e14},
        "none": {"type": "integer", "minimum": 3, "maximum": 1},
        "odd": {"type": "integer", "multipleOf": 5, "minimum": 6, "maximum": 9}}}));
    for row in made.rows.as_array().unwrap() {
        assert!((0.001..=0.009).contains(&row["rate"].as_f64().unwrap()), "{row}");
        assert!(row["large"].as_f64().unwrap() >= 1e14, "{row}");
    }
    let lines: Vec<_> = made.broken.lines().collect();
    let expected = [
        "the rows may violate the bounds of none, which have no number in between",
        "the rows may violate the multiples of odd, none of which are within its bounds",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn schemas_with_too_many_values_per_row_are_trimmed_or_refused() {
    // A node has 40 lists of nodes, so the values of a row would exceed the limit.
    let mut properties = serde_json::Map::new();
    for number in 0..40 {
        let list = json!({"type": "array", "minItems": 10, "items": {"$ref": "#/$defs/node"}});
        properties.insert(format!("p{number}"), list);
    }
    let node = json!({"type": "object", "properties": properties});
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let document = json!({"$ref": "#/$defs/node", "$defs": {"node": node}});
    let file = program.folder().write("node.json", document.to_string());
    let made = program.run(&["schema", file.to_str().unwrap()]);
    assert!(made.code == Some(0) && !made.errors.contains("may violate"), "{}", made.errors);
    let records = ["records", "-", "--seed", "demo", "-n", "1", "--format", "json"];
    let rows: Value =
        serde_json::from_str(&program.pipe(&records, made.out.as_bytes()).done()).unwrap();
    assert!(rows[0]["p0"][9]["p1"][9].is_object());
    assert!(rows[0]["p9"].as_array().unwrap().len() >= 10, "{}", rows[0]["p9"]);
    let long = json!({"type": "array", "minItems": 100, "items": {
        "type": "array", "minItems": 100, "items": {"type": "array", "minItems": 9, "items": {"type": "integer"}}}});
    let made = Proposal::json(&json!({"properties": {"long": long}}));
    assert!(made.broken.contains("the number of items in long"), "{}", made.broken);
    let values: Vec<_> = (0..10_001).collect();
    let file = json!({"properties": {"x": {"enum": values}}}).to_string();
    let file = program.folder().write("many.json", file);
    let refused = program.run(&["schema", file.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("would be refused by records"), "{}", refused.errors);
}

#[test]
fn constraints_that_combined_schemas_give_several_times_are_reported() {
    let made = Proposal::json(&json!({"properties": {"x": {"allOf": [
        {"type": "string", "pattern": "^[a-c]+$"}, {"pattern": "^[b-d]+$"}]}}}));
    let expected = "the rows may violate a constraint pattern that is given several times\n";
    assert_eq!(made.broken, expected);
}

#[test]
fn strings_have_both_a_format_and_a_pattern_or_are_reported() {
    let made = Proposal::json(&json!({"required": ["day", "host"], "properties": {
        "day": {"format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "host": {"format": "ipv4", "pattern": r"^(\d{1,3}\.){3}\d{1,3}$"}}}));
    let kinds = [0, 1].map(|place| made.schema["fields"][place]["type"].clone());
    assert_eq!((made.broken.as_str(), kinds), ("", [json!("date"), json!("ip")]));
    let made = Proposal::json(&json!({"required": ["at"], "properties": {
        "at": {"format": "date-time", "pattern": r"\.\d{3}Z$"}}}));
    let report = "the rows may violate the format of at, which its pattern does not give\n";
    assert_eq!(made.broken, report);
    let made = Proposal::json(&json!({"required": ["mail"], "properties": {
        "mail": {"format": "email", "pattern": r"^\S+@\S+$", "maxLength": 9}}}));
    assert!(made.broken.contains("the length of mail, which its format does not give"));
}

#[test]
fn properties_that_a_combined_schema_forbids_are_reported() {
    let properties = |name: &str| json!({(name): {"type": "integer"}});
    let closed = json!({"properties": properties("a"), "additionalProperties": false});
    let report = "the rows may violate the constraint additionalProperties of combined schemas\n";
    for (other, expected) in [
        (json!({"properties": properties("b")}), report),
        (json!({"properties": properties("a"), "required": ["a"]}), ""),
        (json!({"properties": {"b": false}}), ""),
    ] {
        for parts in [[&closed, &other], [&other, &closed]] {
            assert_eq!(Proposal::json(&json!({"allOf": parts})).broken, expected, "{other}");
        }
        let mut whole = closed.clone();
        whole["allOf"] = json!([other]);
        assert_eq!(Proposal::json(&json!({"properties": {"x": whole}})).broken, expected);
    }
    for (rest, expected) in [
        (json!({"type": "string"}), report),
        (json!({"type": "integer"}), ""),
        (json!({}), ""),
        (json!(true), ""),
    ] {
        let parts = [json!({"additionalProperties": rest}), json!({"properties": properties("b")})];
        assert_eq!(Proposal::json(&json!({"allOf": parts})).broken, expected, "{rest}");
    }
}

#[test]
fn recursive_parts_below_the_deepest_level_are_left_out_or_null() {
    fn is_node(node: &Value) -> bool {
        let kids = node["kids"].as_array();
        let next = node.get("next").filter(|next| !next.is_null());
        node["v"].is_i64()
            && next.is_none_or(is_node)
            && kids.is_none_or(|kids| kids.iter().all(is_node))
    }
    for required in [json!(["v"]), json!(["v", "next", "kids"])] {
        let node = json!({"type": "object", "required": required, "properties": {
            "v": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}});
        let document = json!({
            "properties": {"node": {"$ref": "#/$defs/node"}}, "required": ["node"],
            "$defs": {"node": node}});
        let made = Proposal::json(&document);
        assert_eq!(made.broken, "", "{required}");
        let values = made.values("node");
        assert!(values.iter().all(is_node), "{required}: {}", values[0]);
        assert!(values.iter().any(|node| node["next"]["kids"][0]["v"].is_i64()));
    }
}

#[test]
fn references_to_the_whole_document_do_not_copy_its_definitions() {
    // With a copy for each reference, this would take hours.
    let texts: serde_json::Map<_, _> =
        (0..20).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    let definition = json!({ "properties": texts });
    let definitions: serde_json::Map<_, _> =
        (0..4_000).map(|number| (format!("d{number}"), definition.clone())).collect();
    let own = (0..10).map(|number| (format!("m{number}"), json!({"$ref": "#"})));
    let mut properties: serde_json::Map<_, _> = own.collect();
    properties.insert("text".to_owned(), json!({"$ref": "#/definitions/d7/properties/p7"}));
    let document = json!({"properties": properties, "definitions": definitions});
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let folder = Folder::new();
    let file = folder.write("large.json", document.to_string());
    let made = program.run(&["schema", file.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{}", made.errors);
    let schema: Value = serde_json::from_str(&made.out).unwrap();
    let fields = schema["fields"].as_array().or(schema["tables"][0]["fields"].as_array());
    assert_eq!(fields.unwrap().len(), 11);
}

#[test]
fn objects_that_repeat_the_whole_document_are_empty_if_rows_would_be_too_large() {
    // Each row would have 60 times the 40 long texts.
    let texts =
        (0..40).map(|number| (format!("t{number}"), json!({"type": "string", "minLength": 2_000})));
    let objects = (0..60).map(|number| {
        let object = json!({"description": "All options", "type": "object", "$ref": "#"});
        (format!("o{number}"), object)
    });
    let mut properties: serde_json::Map<_, _> = texts.chain(objects).collect();
    let rules = json!({"type": "array", "items": {"allOf": [
        {"$ref": "#"}, {"properties": {"deep": {"$ref": "#/definitions/deep"}}}]}});
    properties.insert("rules".to_owned(), rules.clone());
    properties.insert("either".to_owned(), json!({"oneOf": [rules, {"type": "boolean"}]}));
    let deep = (0..20).fold(json!({"$ref": "#"}), |inner, _| json!({"properties": {"d": inner}}));
    let document = json!({"properties": properties, "definitions": {"deep": deep}});
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let file = program.folder().write("large.json", document.to_string());
    let made = program.run(&["schema", file.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{}", made.errors);
    let records = ["records", "-", "--seed", "demo", "-n", "1", "--format", "json"];
    let rows: Value =
        serde_json::from_str(&program.pipe(&records, made.out.as_bytes()).done()).unwrap();
    let row = rows[0].as_object().unwrap();
    assert_eq!(row.len(), 102);
    assert!(row["t0"].as_str().unwrap().len() >= 2_000);
    assert_eq!((&row["o59"], &row["rules"], &row["either"]), (&json!({}), &json!([]), &json!([])));
}
