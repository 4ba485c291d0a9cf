use serde_json::json;

use testkit::Exchange;

use crate::app::App;

#[actix_web::test]
async fn seeded_card_never_changes() {
    let app = App::start().await;
    let response = app.get("/api/Card?type=Visa&seed=demo").await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), "application/json; charset=utf-8");
    assert_eq!(response.header("cache-control"), "no-store");
    assert_eq!(response.header("x-seed"), "demo");
    assert_eq!(response.header("x-ref-date"), "2030-01-01");
    assert_eq!(response.header("x-data-version"), "2.14.0");
    assert_eq!(
        response.text(),
        r#"{"type":"Visa","date":"2031-02-01T00:00:00","fullName":"Kendra Mason","cardNumber":"4252942886413145","cvv":"646","pin":6419}"#
    );
}

#[actix_web::test]
async fn every_type_gives_a_card_of_that_type() {
    let app = App::start().await;
    let types = app.ok("/api/Card/Types").await;
    let types: Vec<_> = types.as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
    assert_eq!(types.len(), 22);
    assert_eq!(types[..4], ["Visa", "VisaElectron", "Mastercard", "AmericanExpress"]);
    for kind in types {
        let card = app.ok(&format!("/api/Card?type={kind}")).await;
        assert_eq!(card["type"], kind);
        let code = if kind == "AmericanExpress" { 4 } else { 3 };
        assert_eq!(card["cvv"].as_str().unwrap().len(), code);
        assert!(card["pin"].is_number());
        assert!(card["date"].as_str().unwrap().ends_with("-01T00:00:00"));
        assert!(card["fullName"].as_str().unwrap().contains(' '));
        assert!(card["cardNumber"].as_str().unwrap().bytes().all(|b| b.is_ascii_digit()));
    }
}

#[actix_web::test]
async fn unseeded_card_can_be_repeated_with_its_headers() {
    let app = App::start().await;
    let first = app.get("/api/Card").await;
    let (seed, day) = (first.header("x-seed").to_owned(), first.header("x-ref-date").to_owned());
    assert_eq!(seed.len(), 32);
    assert_eq!(day, "2026-11-20");
    let first = first.json();
    assert_eq!(app.ok(&format!("/api/Card?seed={seed}&refDate={day}")).await, first);
    assert_ne!(app.ok("/api/Card").await, first);
}

#[actix_web::test]
async fn names_values_and_paths_ignore_case_and_aliases_work() {
    let app = App::start().await;
    let card = app.ok("/api/Card?type=AmericanExpress&seed=x").await;
    for path in [
        "/API/CARD?TYPE=amex&SEED=x",
        "/api/card/?Type=american_express&Seed=x",
        "/api/Card?type=American%20Express&type=Visa&seed=x&unknown=1",
    ] {
        assert_eq!(app.ok(path).await, card, "{path}");
    }
    assert_eq!(app.ok("/api/Card?type=&seed=x").await, app.ok("/api/Card?seed=x").await);
}

#[actix_web::test]
async fn all_faults_are_reported_together() {
    let app = App::start().await;
    let long = "x".repeat(65);
    let path = format!("/api/Card?type=Monopoly&seed={long}&refDate=2026-02-30");
    assert_eq!(
        app.errors(&path).await,
        json!({
            "type": ["The value 'Monopoly' is not supported. See /api/Card/Types."],
            "seed": ["The field seed must be a string or array type with a maximum length of '64'."],
            "refDate": ["The value '2026-02-30' is not valid."],
        })
    );
}

#[actix_web::test]
async fn known_list_is_304() {
    let app = App::start().await;
    let first = app.get("/api/Card/Types").await;
    assert_eq!(first.header("cache-control"), "public, max-age=3600");
    let tag = first.header("etag").to_owned();
    let again = app.server.get("/api/Card/Types").header("if-none-match", &tag).answer().await;
    assert_eq!(again.status, 304);
    assert_eq!(again.header("etag"), tag);
    assert_eq!(again.text(), "");
    let other = app.server.get("/api/Card/Types").header("if-none-match", "W/\"0\"");
    assert_eq!(other.answer().await.status, 200);
}

#[actix_web::test]
async fn card_numbers_are_checked() {
    let app = App::start().await;
    let check = async |query: &str| app.ok(&format!("/api/Card/Validate?{query}")).await;
    assert_eq!(
        check("cardNumber=4111%201111-1111%201111").await,
        json!({ "isValid": true, "errorMessage": null, "types": ["Visa"] })
    );
    assert_eq!(
        check("cardNumber=4111111111111112&type=visa").await,
        json!({ "isValid": false, "errorMessage": "The check digit is wrong.", "types": [] })
    );
    assert_eq!(
        app.errors("/api/Card/Validate?type=Monopoly").await,
        json!({
            "cardNumber": ["The cardNumber field is required."],
            "type": ["The value 'Monopoly' is not supported. See /api/Card/Types."],
        })
    );
}

#[actix_web::test]
async fn pretty_card_numbers_are_grouped() {
    let app = App::start().await;
    let plain = app.ok("/api/Card?type=Amex&seed=a").await;
    let pretty = app.ok("/api/Card?type=Amex&seed=a&format=Pretty").await;
    let number = pretty["cardNumber"].as_str().unwrap();
    assert_eq!(number.replace(' ', ""), plain["cardNumber"]);
    assert_eq!(number.split(' ').map(str::len).collect::<Vec<_>>(), [4, 6, 5]);
}
