//! Requirements for every contract file, `services/NAME/openapi.json`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::source::{SERVICES, root};

fn document(service: &str) -> Value {
    let path = root().join("services").join(service).join("openapi.json");
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Returns each operation with its method and path.
fn operations(document: &Value) -> Vec<(String, Value)> {
    let methods = ["get", "put", "post", "delete", "patch", "head", "options"];
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if methods.contains(&method.as_str()) {
                found.push((format!("{method} {path}"), operation.clone()));
            }
        }
    }
    found
}

/// Runs a check on every operation of every service and collects the complaints.
fn complaints(check: impl Fn(&Value, &Value) -> Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for &service in SERVICES.iter() {
        let document = document(service);
        for (name, operation) in operations(&document) {
            let complaints = check(&document, &operation).into_iter();
            found.extend(complaints.map(|complaint| format!("{service}: {name}: {complaint}")));
        }
    }
    found
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{} complaints:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_operation_has_a_unique_id_a_tag_and_a_summary() {
    assert_none(&complaints(|_, operation| {
        let lacking = ["operationId", "summary", "tags"].into_iter();
        lacking.filter(|key| operation[*key].is_null()).map(|key| format!("no {key}")).collect()
    }));
    for &service in SERVICES.iter() {
        let operations = operations(&document(service));
        let ids: BTreeSet<&str> = operations
            .iter()
            .filter_map(|(_, operation)| operation["operationId"].as_str())
            .collect();
        assert_eq!(ids.len(), operations.len(), "{service} uses an operationId twice");
    }
}

#[test]
fn parameters_are_named_once_and_their_defaults_have_their_type() {
    assert_none(&complaints(|_, operation| {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let (name, place) = (&parameter["name"], &parameter["in"]);
            if !seen.insert((name.to_string(), place.to_string())) {
                found.push(format!("{name} in {place} is declared twice"));
            }
            let default = &parameter["schema"]["default"];
            let fits = match parameter["schema"]["type"].as_str() {
                _ if default.is_null() => true,
                Some("boolean") => default.is_boolean(),
                Some("integer") => default.is_i64(),
                Some("number") => default.is_number(),
                Some("string") => default.is_string(),
                _ => true,
            };
            if !fits {
                found.push(format!("the default of {name} is {default}"));
            }
        }
        found
    }));
}

#[test]
fn path_parameters_match_the_path() {
    for &service in SERVICES.iter() {
        for (name, operation) in operations(&document(service)) {
            let declared: BTreeSet<String> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
                .collect();
            let named: BTreeSet<String> = name
                .split('{')
                .skip(1)
                .filter_map(|part| part.split_once('}').map(|(name, _)| name.to_owned()))
                .collect();
            assert_eq!(declared, named, "{service}: {name}");
        }
    }
}

/// Returns whether a response is declared without a body, like 304 and some 404 responses.
fn is_empty(status: &str, response: &Value) -> bool {
    let described = response["description"].as_str().unwrap_or_default().to_lowercase();
    matches!(status, "204" | "301" | "304") || described.contains("empty")
}

#[test]
fn every_answer_is_described_and_has_the_schema_of_its_body() {
    assert_none(&complaints(|_, operation| {
        let mut found = Vec::new();
        for (status, response) in operation["responses"].as_object().unwrap() {
            if response["description"].as_str().is_none_or(str::is_empty) {
                found.push(format!("{status} has no description"));
            }
            let content = response["content"].as_object();
            let schema = content
                .is_some_and(|content| content.values().all(|media| !media["schema"].is_null()));
            if !schema && !is_empty(status, response) {
                found.push(format!("{status} has no schema and does not say that it is empty"));
            }
        }
        found
    }));
}

#[test]
fn every_json_success_has_an_example() {
    assert_none(&complaints(|document, operation| {
        let mut found = Vec::new();
        for (status, response) in operation["responses"].as_object().unwrap() {
            let media = &response["content"]["application/json"];
            if status.starts_with('2') && !media.is_null() && !has_example(document, media) {
                found.push(format!("{status} has no example"));
            }
        }
        found
    }));
}

/// Returns whether there is an example next to the schema, inside of it, or in a schema that it
/// references.
fn has_example(document: &Value, media: &Value) -> bool {
    let given = |value: &Value| !value["example"].is_null() || !value["examples"].is_null();
    if given(media) || given(&media["schema"]) {
        return true;
    }
    let schema = &media["schema"];
    let referred = schema["$ref"].as_str().or_else(|| schema["items"]["$ref"].as_str());
    let Some(name) = referred.and_then(|path| path.rsplit('/').next()) else {
        return given(&schema["items"]);
    };
    let schema = &document["components"]["schemas"][name];
    let members = schema["properties"].as_object();
    given(schema) || members.is_some_and(|members| members.values().all(given))
}
