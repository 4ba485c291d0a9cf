//! All faults of a request for records are reported together.

use serde_json::{Value, json};
use testkit::Exchange;

use crate::app::App;

/// Returns the number of faults of each parameter and at each JSON pointer.
async fn faults(query: &str, schema: Value) -> Vec<(String, usize)> {
    let app = App::start().await;
    let request = app.server.post(&format!("/api/Records?{query}")).json(&schema);
    let errors = request.answer().await.expect(400).json()["errors"].take();
    let faults = errors.as_object().unwrap().iter();
    let mut faults: Vec<_> =
        faults.map(|(name, list)| (name.clone(), list.as_array().unwrap().len())).collect();
    faults.sort_unstable();
    faults
}

fn once(pointers: &[&str]) -> Vec<(String, usize)> {
    pointers.iter().map(|pointer| ((*pointer).to_owned(), 1)).collect()
}

#[actix_web::test]
async fn faults_of_parameters_and_of_the_schema_are_reported_together() {
    let schema = json!({"fields": [{"name": "a", "type": "integer", "min": 2, "max": 1, "b": 1}]});
    let found = faults("rows=x&format=q", schema).await;
    assert_eq!(found, once(&["/fields/0/b", "/fields/0/max", "format", "rows"]));
}

#[actix_web::test]
async fn faults_of_children_are_reported_together() {
    let children = json!({"table": "zz", "min": 5, "max": 1, "distribution": "q"});
    let id = json!({"name": "id", "type": "sequence"});
    let table = json!({"name": "a", "rows": 5, "childrenOf": children, "fields": [id]});
    let found = faults("", json!({ "tables": [table] })).await;
    let at = "/tables/0/childrenOf";
    let pointers = ["distribution", "max", "table"].map(|name| format!("{at}/{name}"));
    let [distribution, most, parent] = pointers.each_ref().map(String::as_str);
    assert_eq!(found, once(&[distribution, most, parent, "/tables/0/rows"]));
}

#[actix_web::test]
async fn faults_of_a_reference_are_reported_together() {
    let field = json!({"name": "a", "type": "reference", "field": "id", "table": "zz",
        "choose": "q", "with": "w"});
    let found = faults("", json!({ "fields": [field] })).await;
    assert_eq!(found, once(&["/fields/0/choose", "/fields/0/table", "/fields/0/with"]));
}

#[actix_web::test]
async fn all_unknown_names_are_reported() {
    let schema = json!({"uniquePair": ["zz", "yy"], "fields": [
        {"name": "a", "type": "template", "template": "{{q}} {{w}} {{q}}"},
        {"name": "b", "type": "expression", "expression": "qq + ww"},
    ]});
    let found = faults("", schema).await;
    let pointers = ["/fields/0/template", "/fields/1/expression", "/uniquePair"];
    assert_eq!(found, pointers.map(|pointer| (pointer.to_owned(), 2)));
}

#[actix_web::test]
async fn faults_of_alternatives_and_arrays_are_reported_together() {
    let schema = json!({"fields": [
        {"name": "a", "type": "oneOf", "fields": [], "by": "zz"},
        {"name": "b", "type": "array", "min": 3, "max": 1, "items": {"type": "q"}},
    ]});
    let expected = ["/fields/0/by", "/fields/0/fields", "/fields/1/items/type", "/fields/1/max"];
    assert_eq!(faults("", schema).await, once(&expected));
}

#[actix_web::test]
async fn whole_numbers_may_have_a_fraction_or_an_exponent() {
    let app = App::start().await;
    let body = r#"{"fields": [{"name": "a", "type": "integer", "min": 1e3, "max": 1000.0}]}"#;
    let request = app.server.post("/api/Records").header("content-type", "application/json");
    let rows = request.body(body).answer().await.expect(200).json();
    assert_eq!(rows[0]["a"], 1000);
    let half = json!({"fields": [{"name": "a", "type": "integer", "max": 1.5}]});
    assert_eq!(faults("", half).await, once(&["/fields/0/max"]));
}
