//! The OpenAPI document.

use breaches::{Access, Breaches};
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{App, TEST, ZERO};

#[test]
fn openapi_file_matches_the_code() {
    testkit::assert_openapi_matches::<Breaches>(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/openapi.json"
    ));
}

/// Failures of all operations, given as the names of their examples.
const ALL: [&str; 5] = ["blocked", "internal", "methodNotAllowed", "rateLimit", "userAgentMissing"];
/// Failures of all operations that need a key.
const KEYED: [&str; 5] = ["keyInvalid", "keyMalformed", "keyMissing", "notInPlan", "unavailable"];

/// Returns the failures that are specific to an operation.
fn own_failures(id: &str) -> &'static [&'static str] {
    match id {
        "breachedAccount" => {
            &["email", "includeUnverified", "subscriptionEnded", "truncateResponse", "unreadable"]
        }
        "breachedAccounts" => &[
            "bodyTooLarge",
            "emails",
            "includeUnverified",
            "subscriptionEnded",
            "tooManyEmails",
            "truncateResponse",
            "unreadable",
        ],
        "breachedAccountRange" => &["prefix", "subscriptionEnded"],
        "breachedAccountRanges" => {
            &["bodyTooLarge", "prefixes", "subscriptionEnded", "tooManyPrefixes"]
        }
        "breachedDomain" => &[
            "domain",
            "domainNotVerified",
            "domainTooLarge",
            "subscriptionEnded",
            "tooManyDomains",
        ],
        "domainReport" => &[
            "domain",
            "domainNotVerified",
            "domainTooLarge",
            "since",
            "subscriptionEnded",
            "tooManyDomains",
            "unreadable",
        ],
        "breaches" => &["isSpamList", "unreadable"],
        "stealerLogsByEmail" => &["domainNotVerified", "email", "subscriptionEnded"],
        "stealerLogsByWebsiteDomain" | "stealerLogsByEmailDomain" => {
            &["domain", "domainNotVerified", "subscriptionEnded"]
        }
        "pasteAccount" => &["email", "subscriptionEnded"],
        "generateDnsToken" | "verifyDnsToken" | "sendEmail" => {
            &["bodyTooLarge", "subscriptionEnded"]
        }
        "subscribedDomains" => &["subscriptionEnded"],
        _ => &[],
    }
}

fn document() -> Value {
    serde_json::from_str(&shell::openapi::<Breaches>()).unwrap()
}

fn operations(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().values());
    operations.map(|operation| (operation["operationId"].as_str().unwrap(), operation))
}

/// Returns whether an operation needs a key. Operations without a key have an empty list.
fn is_keyed(operation: &Value) -> bool {
    operation["security"].as_array().is_some_and(|schemes| !schemes.is_empty())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(|members| members.keys().map(String::as_str)).collect()
}

/// Returns the target of a reference to a component.
fn referred<'d>(document: &'d Value, reference: &Value) -> &'d Value {
    let path = reference["$ref"].as_str().unwrap().strip_prefix('#').unwrap();
    document.pointer(path).unwrap_or_else(|| panic!("{path} is not in the document"))
}

#[test]
fn every_operation_documents_its_statuses() {
    let document = document();
    for (id, operation) in operations(&document) {
        assert!(operation["summary"].is_string(), "{id}");
        let mut statuses = vec!["200", "403", "405", "429", "500", "503"];
        if is_keyed(operation) {
            statuses.push("401");
        }
        for status in statuses {
            assert!(operation["responses"][status].is_object(), "{status} of {id}");
        }
    }
}

#[test]
fn every_failure_of_an_operation_has_an_example() {
    let document = document();
    for (id, operation) in operations(&document) {
        let mut found = Vec::new();
        for (status, response) in operation["responses"].as_object().unwrap() {
            let media = &response["content"]["application/json"];
            if matches!(status.as_str(), "200" | "304" | "404") {
                assert!(status == "200" || media.is_null(), "{status} of {id}");
                continue;
            }
            // Errors about a domain have a different kind of body.
            if media["schema"]["$ref"] == "#/components/schemas/MessageBody" {
                assert_eq!((status.as_str(), media["example"].is_object()), ("400", true), "{id}");
                continue;
            }
            assert_eq!(media["schema"]["$ref"], "#/components/schemas/ErrorBody", "{id}");
            assert!(!keys(&media["examples"]).is_empty(), "{status} of {id}");
            for (name, example) in media["examples"].as_object().unwrap() {
                let value = &referred(&document, example)["value"];
                assert_eq!(value["statusCode"].to_string(), *status, "{name} of {id}");
                found.push(name.as_str());
            }
        }
        let keyed = if is_keyed(operation) { &KEYED[..] } else { &[] };
        let mut expected = [&ALL[..], keyed, own_failures(id)].concat();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{id}");
    }
}

#[test]
fn error_examples_are_unchanged() {
    let document = document();
    let examples = document["components"]["examples"].as_object().unwrap().values();
    let mut bodies: Vec<_> = examples.map(|example| example["value"].to_string()).collect();
    bodies.sort_unstable();
    insta::assert_snapshot!(bodies.join("\n"));
}

#[test]
fn documented_security_matches_the_required_key() {
    let document = document();
    for (path, item) in document["paths"].as_object().unwrap() {
        let keyed = matches!(breaches::access(path), Access::Keyed(_));
        let operation = if item["get"].is_null() { &item["post"] } else { &item["get"] };
        assert_eq!(keyed, is_keyed(operation), "{path}");
    }
}

/// Returns a path of the document, filled with targets that a test key finds.
fn filled(path: &str) -> String {
    let alias = if path.contains("stealer") { "stealer-log" } else { "account-exists" };
    let host = if path.contains("Website") { format!("shop.{TEST}") } else { TEST.to_owned() };
    let path = path.replace("{email}", &format!("{alias}@{TEST}")).replace("{domain}", &host);
    let path = path.replace("{prefix}", "abcdef").replace("{name}", "Acmegram");
    if path.contains("domainReport") { path + "?since=2013-01-01" } else { path }
}

#[actix_web::test]
async fn answers_have_the_documented_headers() {
    let document = document();
    let app = App::start().await;
    let paths = document["paths"].as_object().unwrap().iter();
    for (path, item) in paths.filter(|(_, item)| item["get"].is_object()) {
        let target = filled(path);
        let ask = |method| {
            let request = app.server.request(method, &target).header("breach-api-key", ZERO);
            request.header("user-agent", "tests")
        };
        let mut requests =
            vec![(200, ask(Method::GET)), (403, app.server.get(&target)), (405, ask(Method::POST))];
        if !is_keyed(&item["get"]) {
            requests.push((304, ask(Method::GET).header("if-none-match", "*")));
        }
        for (status, request) in requests {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{target}");
            let documented = &item["get"]["responses"][status.to_string()]["headers"];
            for (name, header) in documented.as_object().unwrap() {
                let sent = response.headers().get(name).map(|value| value.to_str().unwrap());
                match name.as_str() {
                    // Only sent for domains that are larger than the plan covers.
                    "x-domain-search-limited" => {}
                    "etag" | "last-modified" | "link" => assert!(sent.is_some(), "{name} {path}"),
                    _ => {
                        let sample = &referred(&document, header)["example"];
                        assert_eq!(sent, sample.as_str(), "{name} {path}");
                    }
                }
            }
        }
    }
}

#[test]
fn one_schema_describes_truncated_and_full_answers() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["AccountBreach"]["required"], json!(["Name"]));
    let names = |schema: &str| -> Vec<String> {
        schemas[schema]["properties"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(names("AccountBreach"), names("Breach"));
}
