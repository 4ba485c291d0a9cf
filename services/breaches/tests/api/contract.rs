//! The OpenAPI document.

use breaches::Breaches;

const OPERATIONS: [&str; 13] = [
    "breachedAccount",
    "breachedAccountRange",
    "breachedDomain",
    "subscribedDomains",
    "breaches",
    "breach",
    "latestBreach",
    "dataClasses",
    "stealerLogsByEmail",
    "stealerLogsByWebsiteDomain",
    "stealerLogsByEmailDomain",
    "pasteAccount",
    "subscriptionStatus",
];

#[test]
fn the_document_in_the_tree_is_what_the_code_says() {
    testkit::assert_openapi_matches::<Breaches>(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/openapi.json"
    ));
}

#[test]
fn every_operation_is_documented_with_its_answers() {
    let document: serde_json::Value = serde_json::from_str(&web::openapi::<Breaches>()).unwrap();
    let mut found: Vec<String> = Vec::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            assert!(operation["responses"]["200"].is_object());
            assert!(operation["responses"]["403"].is_object());
            assert!(operation["summary"].is_string());
            for (status, response) in operation["responses"].as_object().unwrap() {
                let body = &response["content"]["application/json"];
                if status != "200" && body.is_object() {
                    assert_eq!(body["example"]["statusCode"].to_string(), *status, "{operation}");
                }
            }
            let is_keyed = operation["security"].is_array();
            for status in ["429", "503"].iter().chain(is_keyed.then_some(&"401")) {
                assert!(operation["responses"][status].is_object(), "{status} in {operation}");
            }
            found.push(operation["operationId"].as_str().unwrap().to_owned());
        }
    }
    found.sort();
    let mut expected = OPERATIONS.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn one_type_reads_truncated_and_full_answers() {
    let document: serde_json::Value = serde_json::from_str(&web::openapi::<Breaches>()).unwrap();
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["AccountBreach"]["required"], serde_json::json!(["Name"]));
    let names = |schema: &str| -> Vec<String> {
        schemas[schema]["properties"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(names("AccountBreach"), names("Breach"));
}
