//! Fields with alternatives, and arrays of distinct items.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use testkit::{Exchange, Folder, Program};

use crate::app::App;

/// Returns rows of a schema with one table.
async fn rows(app: &App, query: &str, fields: Value) -> Vec<Value> {
    let request = app.server.post(&format!("/api/Records?seed=demo&{query}"));
    let answer = request.json(&json!({ "fields": fields })).answer().await.expect(200);
    serde_json::from_str(answer.text()).unwrap()
}

/// Returns the messages about a schema with one table.
async fn faults(app: &App, fields: Value) -> Value {
    let request = app.server.post("/api/Records?rows=10");
    request.json(&json!({ "fields": fields })).answer().await.expect(400).json()["errors"].take()
}

/// Checks that counts are within four standard deviations of what weights predict.
fn assert_fair(counts: &HashMap<String, u32>, shares: &[(&str, f64)], all: f64) {
    for (value, share) in shares {
        let count = f64::from(counts.get(*value).copied().unwrap_or(0));
        let deviation = (all * share * (1.0 - share)).sqrt();
        assert!((count - all * share).abs() <= 4.0 * deviation, "{value}: {counts:?}");
    }
}

fn counted<'a>(values: impl Iterator<Item = &'a Value>) -> HashMap<String, u32> {
    let mut counts = HashMap::new();
    values.for_each(|value| *counts.entry(value.to_string()).or_default() += 1);
    counts
}

#[actix_web::test]
async fn each_row_has_one_of_the_alternatives_evenly_or_by_weight() {
    let app = App::start().await;
    let field_of = |name: &str, weights: Value| {
        let fields = ["a", "b", "c"].map(|value| json!({"type": "constant", "value": value}));
        let mut field = json!({"name": name, "type": "oneOf", "fields": fields});
        if weights.is_array() {
            field["weights"] = weights;
        }
        field
    };
    let fields = json!([field_of("even", json!(null)), field_of("weighted", json!([7, 2, 1]))]);
    let made = rows(&app, "rows=20000", fields.clone()).await;
    let counts = |name: &str| counted(made.iter().map(|row| &row[name]));
    let third = 1.0 / 3.0;
    assert_fair(&counts("even"), &[("\"a\"", third), ("\"b\"", third), ("\"c\"", third)], 2e4);
    assert_fair(&counts("weighted"), &[("\"a\"", 0.7), ("\"b\"", 0.2), ("\"c\"", 0.1)], 2e4);
    let part = rows(&app, "rows=50&offset=12345", fields).await;
    assert_eq!(part, made[12345..12395]);
}

#[actix_web::test]
async fn alternatives_may_be_of_any_type_and_another_field_may_choose() {
    let app = App::start().await;
    let fields = json!([
        {"name": "which", "type": "integer", "min": 0, "max": 1, "hidden": true},
        {"name": "kind", "type": "oneOf", "by": "which", "fields": [
            {"type": "constant", "value": "cat"}, {"type": "constant", "value": "dog"}]},
        {"name": "data", "type": "oneOf", "by": "which", "fields": [
            {"type": "integer", "min": 5, "max": 5},
            {"type": "object", "fields": [{"name": "bark", "type": "boolean"}]}]},
        {"name": "many", "type": "array", "min": 2, "max": 2, "items": {
            "type": "oneOf", "by": "which", "fields": [{"type": "ip"}, {"type": "uuid"}]}}]);
    let made = rows(&app, "rows=300", fields).await;
    let mut kinds = HashSet::new();
    for row in &made {
        let is_cat = row["kind"] == "cat";
        kinds.insert(is_cat);
        assert_eq!(row["data"] == 5, is_cat, "{row}");
        assert_eq!(row["data"]["bark"].is_boolean(), !is_cat, "{row}");
        for item in row["many"].as_array().unwrap() {
            assert_eq!(item.as_str().unwrap().contains('.'), is_cat, "{row}");
        }
    }
    assert_eq!(kinds.len(), 2);
}

#[actix_web::test]
async fn items_of_distinct_arrays_differ_and_every_selection_is_as_likely() {
    let app = App::start().await;
    let letters = json!({"type": "choice", "values": ["a", "b", "c"]});
    let fields = json!([
        {"name": "two", "type": "array", "min": 2, "max": 2, "distinct": true, "items": letters},
        {"name": "all", "type": "array", "min": 3, "max": 3, "distinct": true, "items": letters},
        {"name": "numbers", "type": "array", "min": 0, "max": 40, "distinct": true,
            "items": {"type": "integer", "min": 1, "max": 45}},
        {"name": "mails", "type": "array", "min": 3, "max": 3, "distinct": true,
            "items": {"type": "person", "part": "email"}}]);
    let made = rows(&app, "rows=12000", fields.clone()).await;
    for row in &made {
        for name in ["two", "all", "numbers", "mails"] {
            let items = row[name].as_array().unwrap();
            let distinct: HashSet<_> = items.iter().map(Value::to_string).collect();
            assert_eq!(distinct.len(), items.len(), "{row}");
        }
    }
    let orders = counted(made.iter().map(|row| &row["all"]));
    let each = 1.0 / 6.0;
    let [abc, cba] = [r#"["a","b","c"]"#, r#"["c","b","a"]"#];
    assert_fair(&orders, &[(abc, each), (cba, each)], 12e3);
    let pairs = counted(made.iter().map(|row| &row["two"]));
    assert_eq!((orders.len(), pairs.len()), (6, 6));
    assert_fair(&pairs, &[(r#"["a","c"]"#, each), (r#"["c","a"]"#, each)], 12e3);
    assert_eq!(rows(&app, "rows=20&offset=7000", fields).await, made[7000..7020]);
}

#[actix_web::test]
async fn distinct_items_refer_to_different_rows() {
    let app = App::start().await;
    let schema = json!({"tables": [
        {"name": "tags", "rows": 6, "fields": [{"name": "id", "type": "sequence"}]},
        {"name": "posts", "rows": 200, "fields": [
            {"name": "tags", "type": "array", "min": 1, "max": 6, "distinct": true,
                "items": {"type": "reference", "table": "tags", "field": "id"}}]}]});
    let request = app.server.post("/api/Records?seed=demo&format=json");
    let made = request.json(&schema).answer().await.expect(200).json();
    for post in made["posts"].as_array().unwrap() {
        let tags = post["tags"].as_array().unwrap();
        let distinct: HashSet<_> = tags.iter().map(|tag| tag.as_u64().unwrap()).collect();
        assert_eq!(distinct.len(), tags.len());
        assert!(distinct.iter().all(|tag| (1..=6).contains(tag)), "{post}");
    }
}

#[actix_web::test]
async fn faulty_alternatives_and_impossible_distinct_items_are_refused_with_their_place() {
    let app = App::start().await;
    let found = faults(
        &app,
        json!([
            {"name": "few", "type": "array", "min": 4, "max": 5, "distinct": true,
                "items": {"type": "choice", "values": ["a", "b", "a"]}},
            {"name": "open", "type": "array", "distinct": true, "items": {"type": "text"}},
            {"name": "null", "type": "array", "distinct": true, "items": {"type": "ip", "nulls": 0.5}},
            {"name": "none", "type": "oneOf", "fields": []},
            {"name": "weights", "type": "oneOf", "weights": [1, 2], "fields": [{"type": "mac"}]},
            {"name": "both", "type": "oneOf", "weights": [1], "by": "few", "fields": [{"type": "mac"}]},
            {"name": "inner", "type": "oneOf", "fields": [{"type": "mac"}, {"type": "nope"}]},
            {"name": "unique", "type": "oneOf", "unique": true, "fields": [{"type": "mac"}]},
            {"name": "never", "type": "choice", "unique": true, "values": [1, 2, 3],
                "weights": [0, 1, 0]},
            {"name": "itself", "type": "oneOf", "by": "itself", "fields": [{"type": "mac"}]}]),
    )
    .await;
    for (place, text) in [
        ("0/items", "is impossible: there are 2 values for 5 distinct items"),
        ("1/items", "cannot be guaranteed to be distinct"),
        ("2/items/nulls", "must be omitted"),
        ("3/fields", "must be an array of 1 to 100 fields"),
        ("4/weights", "must be 1 numbers"),
        ("5/weights", "must be omitted"),
        ("6/fields/1/type", "must be one of"),
        ("7/unique", "cannot be guaranteed"),
        ("8/unique", "is impossible: there are 1 values"),
        ("9", "is derived from itself"),
    ] {
        let message = found[format!("/fields/{place}")][0].as_str().unwrap_or_default();
        assert!(message.contains(text), "{place}: {found}");
    }
    let mut deep = json!({"type": "mac"});
    for _ in 0..5 {
        deep = json!({"type": "oneOf", "fields": [deep]});
    }
    deep["name"] = "deep".into();
    let found = faults(&app, json!([deep])).await.to_string();
    assert!(found.contains("must not be nested more than 4 levels deep"), "{found}");
}

#[actix_web::test]
async fn fields_with_nulls_cannot_be_referred_to() {
    let app = App::start().await;
    let key = json!({"type": "uuid"});
    let mut nullable = key.clone();
    nullable["nulls"] = 0.5.into();
    let null = json!({"type": "constant", "value": null});
    let one_of = |fields: &[&Value]| json!({"type": "oneOf", "fields": fields});
    for (field, status) in [
        (one_of(&[&key, &null]), 400),
        (one_of(&[&nullable, &key]), 400),
        (one_of(&[&key, &one_of(&[&key, &null])]), 400),
        (json!({"type": "choice", "values": [1, null]}), 400),
        (null.clone(), 400),
        (one_of(&[&key, &json!({"type": "constant", "value": 0})]), 200),
        // The first row of a table that refers to itself has a null.
        (json!({"type": "reference", "table": "a", "field": "key"}), 400),
        (json!({"type": "reference", "table": "a", "field": "key", "choose": "once"}), 400),
        (json!({"type": "expression", "expression": "half + 1"}), 400),
        (json!({"type": "expression", "expression": "if(key > 1, half, 1)"}), 400),
        (json!({"type": "expression", "expression": "if(half > 1, 1, key)"}), 200),
        (json!({"type": "expression", "expression": "half & 1"}), 200),
        (json!({"type": "expression", "expression": "key + 1"}), 200),
        (json!({"type": "expression", "expression": "1 / (key - 1)"}), 400),
        (json!({"type": "expression", "expression": "10 % key"}), 400),
        (json!({"type": "expression", "expression": "key / 0"}), 400),
        (json!({"type": "expression", "expression": "key / 2 + key % 3"}), 200),
        (json!({"type": "person", "part": "workEmail"}), 400),
        (json!({"type": "person", "part": "iban"}), 400),
        (json!({"type": "person", "part": "email"}), 200),
        (json!({"type": "address", "part": "postcode"}), 400),
        (json!({"type": "address", "part": "city"}), 200),
    ] {
        let mut target = field.clone();
        target["name"] = "id".into();
        let schema = json!({"tables": [
            {"name": "a", "rows": 9, "fields": [
                {"name": "key", "type": "sequence"},
                {"name": "half", "type": "integer", "nulls": 0.5},
                target]},
            {"name": "b", "rows": 9, "fields": [
                {"name": "a", "type": "reference", "table": "a", "field": "id"}]}]});
        let answer = app.server.post("/api/Records").json(&schema).answer().await.expect(status);
        let body = answer.json();
        let found = &body["errors"]["/tables/1/fields/0/field"];
        let text = "has nulls, which cannot be referred to";
        assert_eq!(status == 400, *found == json!([text]), "{field}: {body}");
    }
}

/// Returns the proposal for a JSON Schema, its rows, and what they may break.
fn proposed(document: &Value, more: &[&str]) -> (Value, Vec<Value>, String) {
    let (program, folder) = (Program::new(env!("CARGO_BIN_EXE_generator")), Folder::new());
    let file = folder.write("a.json", document.to_string());
    let made = program.run(&[&["schema", file.to_str().unwrap()], more].concat());
    assert_eq!(made.code, Some(0), "{}", made.errors);
    let records = ["records", "-", "--seed", "demo", "-n", "300", "--format", "json"];
    let rows = program.pipe(&records, made.out.as_bytes()).done();
    let schema = serde_json::from_str(&made.out).unwrap();
    // The first use of a folder is logged.
    let broken = made.errors.lines().filter(|line| !line.starts_with('['));
    let broken = broken.map(|line| format!("{line}\n")).collect();
    (schema, serde_json::from_str(&rows).unwrap(), broken)
}

#[test]
fn properties_with_alternatives_have_each_of_them() {
    let document = json!({"required": ["either", "kinds", "list"], "properties": {
        "either": {"oneOf": [{"type": "integer", "maximum": 9}, {"$ref": "#/$defs/point"}]},
        "kinds": {"type": ["string", "boolean", "null"], "maxLength": 4},
        "names": {"oneOf": [{"const": "red", "title": "Red"}, {"const": "blue"}]},
        "list": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}},
        "inner": {"anyOf": [{"oneOf": [{"const": 1}, {"type": "boolean"}]}, {"const": "x"}]},
        "any": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}},
        "$defs": {"point": {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}}}});
    let (schema, rows, broken) = proposed(&document, &[]);
    let has = |name: &str, matches: fn(&Value) -> bool| rows.iter().any(|row| matches(&row[name]));
    assert!(has("either", Value::is_u64) && has("either", |value| value["x"].is_u64()));
    assert!(has("kinds", Value::is_string) && has("kinds", Value::is_boolean));
    assert!(has("kinds", Value::is_null) && !has("either", Value::is_null));
    assert!(rows.iter().all(|row| row["kinds"].as_str().is_none_or(|text| text.len() <= 4)));
    assert!(has("inner", |value| value == 1) && has("inner", |value| value == "x"));
    assert!(has("inner", Value::is_boolean));
    let items: Vec<_> = rows.iter().flat_map(|row| row["list"].as_array().unwrap()).collect();
    assert!(items.iter().any(|item| item.is_u64()) && items.iter().any(|item| item.is_boolean()));
    let fields = schema["fields"].as_array().unwrap();
    let field = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap();
    assert_eq!(field("names")["values"], json!(["red", "blue"]));
    // Each alternative excludes the property that the other one requires.
    assert!(has("any", |value| value["a"].is_u64()) && has("any", |value| value["b"].is_u64()));
    assert!(rows.iter().all(|row| row["any"].as_object().unwrap().len() == 1));
    assert_eq!(broken, "");
    let integers = rows.iter().filter(|row| row["either"].is_u64()).count() as f64;
    assert!((integers - 150.0).abs() < 4.0 * 75_f64.sqrt(), "{integers}");
}

#[test]
fn rows_of_a_component_with_alternatives_are_one_of_them() {
    let pet = |name: &str, kind: Value| {
        json!({"type": "object", "required": ["kind", name],
            "properties": {"kind": {"type": "string"}, "id": {"type": "integer"}, (name): kind}})
    };
    let document = json!({"components": {"schemas": {
        "Cat": pet("lives", json!({"type": "integer", "minimum": 1, "maximum": 9})),
        "Dog": pet("breed", json!({"type": "string", "enum": ["pug"]})),
        "Pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
            "discriminator": {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog"}}}}}});
    let (schema, rows, broken) = proposed(&document, &["--component", "Pet"]);
    assert_eq!(schema["name"], "Pet");
    assert!(broken.contains("they are null"), "{broken}");
    let mut kinds = HashSet::new();
    for row in &rows {
        kinds.insert(row["kind"].as_str().unwrap());
        let is_cat = row["kind"] == "Cat";
        assert_eq!(row["lives"].is_u64(), is_cat, "{row}");
        assert_eq!(row["breed"] == "pug", !is_cat, "{row}");
        assert!(row["id"].is_u64() && row["alternative"].is_null(), "{row}");
    }
    assert_eq!(kinds, HashSet::from(["Cat", "dog"]));
}

#[test]
fn unique_items_differ_or_are_named() {
    let array =
        |items: Value| json!({"type": "array", "uniqueItems": true, "minItems": 2, "items": items});
    let names = ["colours", "words", "mails", "links", "flags", "days"];
    let document = json!({"required": names, "properties": {
        "colours": array(json!({"enum": ["red", "green"]})),
        "words": array(json!({"type": "string", "maxLength": 6})),
        "mails": array(json!({"type": "string", "format": "email"})),
        "links": array(json!({"type": "string", "format": "uri"})),
        "flags": array(json!({"type": "boolean"})),
        "days": array(json!({"type": "string", "format": "date"})),
        "objects": array(json!({"type": "object", "properties": {"a": {"type": "boolean"}}}))}});
    let (_, rows, broken) = proposed(&document, &[]);
    for row in &rows {
        for name in names {
            let items = row[name].as_array().unwrap();
            let distinct: HashSet<_> = items.iter().map(Value::to_string).collect();
            assert!(items.len() >= 2 && distinct.len() == items.len(), "{row}");
        }
        assert!(row["words"][0].as_str().unwrap().len() <= 6, "{row}");
    }
    assert_eq!(broken, "the rows may violate the distinct items of objects\n");
    let few = json!({"properties": {"x": {"type": "array", "uniqueItems": true, "minItems": 3,
        "items": {"enum": ["a", "b"]}}}});
    let (_, rows, broken) = proposed(&few, &[]);
    assert_eq!(broken, "the rows may violate the distinct items of x\n");
    assert!(rows.iter().all(|row| row["x"].as_array().unwrap().len() == 3));
}

#[test]
fn lengths_expressions_and_members_that_are_not_followed() {
    let required = ["code", "letters", "regex", "long", "home", "either", "many", "few"];
    let document = json!({"required": required, "properties": {
        "code": {"type": "string", "pattern": "^[A-Z]+$", "minLength": 2, "maxLength": 3},
        "letters": {"type": "string", "pattern": "^\\d*$", "maxLength": 4},
        "regex": {"type": "string", "format": "regex"},
        "long": {"type": "string", "minLength": 60},
        "home": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string", "maxLength": 5}}},
        "either": {"type": "string", "pattern": "^x|y+$", "minLength": 2, "maxLength": 4},
        "many": {"type": "string", "pattern": "^(x|[a-c]){2,}$", "minLength": 1, "maxLength": 4},
        "few": {"type": "string", "pattern": "^\\+?$", "minLength": 1},
        "other": {"type": "string", "pattern": "^(ab)+$", "maxLength": 3, "not": {"const": "ab"}}}});
    let (_, rows, broken) = proposed(&document, &[]);
    let mut expressions = HashSet::new();
    for row in &rows {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        assert!((2..=3).contains(&text(&row["code"]).len()), "{row}");
        assert!(text(&row["letters"]).len() <= 4, "{row}");
        let either = text(&row["either"]);
        assert!(either == "x" || either.bytes().all(|letter| letter == b'y'), "{row}");
        let many = text(&row["many"]);
        assert!((2..=4).contains(&many.len()), "{row}");
        assert!(many.bytes().all(|letter| b"abcx".contains(&letter)), "{row}");
        assert_eq!(row["few"], "+");
        assert!(text(&row["long"]).len() >= 60, "{row}");
        assert!((1..=5).contains(&text(&row["home"]["name"]).len()), "{row}");
        let regex = text(&row["regex"]);
        regex_automata::meta::Regex::new(&regex).unwrap();
        assert!(regex.starts_with('^') && regex.ends_with('$'), "{regex}");
        expressions.insert(regex);
    }
    assert!(expressions.len() > 50, "{}", expressions.len());
    assert!(broken.contains("the length of other"), "{broken}");
    assert!(broken.contains("not of other, which is not followed"), "{broken}");
    assert!(broken.contains("the length of either"), "{broken}");
    assert_eq!(broken.lines().count(), 3, "{broken}");
}
