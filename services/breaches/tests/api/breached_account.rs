//! Operation 1: breaches of an address.

use serde_json::{Value, json};

use crate::app::{App, TEST, UNKNOWN, ZERO, answer, entry, failure};

fn path(email: &str) -> String {
    format!("/api/v3/breachedaccount/{email}")
}

#[actix_web::test]
async fn loaded_address_is_found_truncated_and_in_full() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "Some.One+Tag@Example.COM\nother@example.com\n").await;
    app.load("Beta", "\u{feff}some.one+tag@example.com\r\n").await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let address = path("%20some.one+TAG%40example.com");
    let short = answer(app.get_with(&key, &address).await).await;
    assert_eq!(short, (200, r#"[{"Name":"Alpha"},{"Name":"Beta"}]"#.into()));
    let full = app.json_with(&key, &format!("{address}?truncateresponse=False")).await;
    assert_eq!(full[0]["PwnCount"], 2);
    assert_eq!(full[1]["Title"], "The Beta");
    assert_eq!(full[1].as_object().unwrap().len(), 20);
    let one = app.json_with(&key, &format!("{address}?DOMAIN=Beta.example")).await;
    assert_eq!(one, json!([{"Name": "Beta"}]));
    let none = app.get_with(&key, &format!("{address}?domain=gamma.example")).await;
    assert_eq!(answer(none).await, (404, String::new()));
    let absent = app.get_with(&key, &path("unknown@example.com")).await;
    assert_eq!(answer(absent).await, (404, String::new()));
}

#[actix_web::test]
async fn paths_queries_and_addresses_ignore_case() {
    let app = App::start().await;
    let plain = path(&format!("account-exists@{TEST}?truncateResponse=false"));
    let shouted = format!(
        "/API/v3/BREACHEDACCOUNT/%20Account-Exists%40{}%20?TRUNCATERESPONSE=False",
        TEST.to_uppercase()
    );
    let expected = answer(app.get_with(ZERO, &plain).await).await;
    assert_eq!(expected.0, 200);
    assert_eq!(answer(app.get_with(ZERO, &shouted).await).await, expected);
}

#[actix_web::test]
async fn international_address_is_found_in_its_written_form() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "Jürgen@Bücher.example\n").await;
    let key = app.subscriber("owner@example.org", "core1").await;
    let found = app.json_with(&key, &path("j%C3%BCrgen@B%C3%9Ccher.example")).await;
    assert_eq!(found, json!([{"Name": "Alpha"}]));
    let other = app.get_with(&key, &path("j%C3%BCrgen@xn--bcher-kva.example")).await;
    assert_eq!(other.status(), 404);
}

#[actix_web::test]
async fn address_at_a_domain_that_is_not_a_host_name_is_found() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "a@under_score.example\na@192.0.2.1\n").await;
    let key = app.subscriber("owner@example.org", "core1").await;
    for email in ["a@under_score.example", "a@192.0.2.1"] {
        assert_eq!(app.json_with(&key, &path(email)).await, json!([{"Name": "Alpha"}]));
    }
    let never = app.get_with(&key, &path("b@under_score.example")).await;
    assert_eq!(never.status(), 404);
}

#[actix_web::test]
async fn invalid_address_or_flag_is_400() {
    let app = App::start().await;
    let expected = failure(400, "The email address is not in an acceptable format.");
    let long = format!("{}@{TEST}", "a".repeat(65));
    for email in
        ["", "%20", "a", "a@b", "@b.example", "a%20b@b.example", "%FF@b.example", "range", &long]
    {
        let response = app.get_with(ZERO, &path(email)).await;
        assert_eq!(answer(response).await, expected, "{email}");
    }
    for name in ["truncateResponse", "IncludeUnverified"] {
        let wrong = path(&format!("account-exists@{TEST}?{}=yes", name.to_lowercase()));
        let message = format!("The value of {name} must be true or false.");
        assert_eq!(answer(app.get_with(ZERO, &wrong).await).await, failure(400, &message));
    }
}

#[actix_web::test]
async fn unverified_breaches_are_left_out_on_request() {
    let app = App::start().await;
    let address = path(&format!("unverified-breach@{TEST}"));
    let found: Value = app.json_with(UNKNOWN, &address).await;
    assert_eq!(found, json!([{"Name": "Inkwell"}]));
    let without = app.get_with(UNKNOWN, &format!("{address}?includeunverified=FALSE")).await;
    assert_eq!(answer(without).await, (404, String::new()));
}

#[actix_web::test]
async fn answers_for_found_missing_and_invalid_addresses_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        format!("breachedAccount/multiple-breaches@{TEST}"),
        format!("breachedAccount/account-exists@{TEST}?truncateResponse=false"),
        format!("breachedAccount/unknown@{TEST}"),
        "breachedAccount/unknown".to_owned(),
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}
