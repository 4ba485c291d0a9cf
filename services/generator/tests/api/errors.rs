//! Every error, with its complete body.

use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use shell::Switch;
use testkit::{Answer, Exchange};

use generator::Settings;

use crate::app::App;

fn snapshot(name: &str, answer: &Answer) {
    insta::assert_snapshot!(name, App::shown(answer));
}

async fn few() -> App {
    let settings = Settings { anonymous_rpm: 60, anonymous_burst: 1, ..Settings::default() };
    App::start_with(settings).await
}

#[actix_web::test]
async fn faults_of_parameters() {
    let app = App::start().await;
    let long = "x".repeat(101);
    for (name, path) in [
        ("card_invalid", format!("/api/Card?type=Monopoly&seed={long}&refDate=2026-02-30")),
        ("card_date_out_of_range", "/api/Card?refDate=0999-12-31".to_owned()),
        ("card_not_utf8", "/api/Card?type=%FF&seed=%FF&refDate=%FF".to_owned()),
        ("crypto_unsupported", "/api/Finance/CryptoAddress?cryptoType=Beans".to_owned()),
        ("crypto_too_long", format!("/api/Finance/CryptoAddress?cryptoType={long}")),
        ("iban_unsupported", format!("/api/Finance/Iban/zz?seed={long}")),
        ("iban_too_long", "/api/Finance/Iban/DEU".to_owned()),
        ("names_absent", "/api/Name".to_owned()),
        ("names_invalid", "/api/Name?nameType=1&quantity=abc&cultureCode=xx".to_owned()),
        ("names_out_of_range", "/api/Name?nameType=surname&quantity=5001".to_owned()),
        ("phones_absent", "/api/Phone/Generate?CountryCode=+".to_owned()),
        ("phones_invalid", "/api/Phone/Generate?CountryCode=zz&Quantity=0".to_owned()),
        ("imeis_invalid", "/api/Phone/IMEI?Quantity=1.5".to_owned()),
        ("phone_validation_absent", "/api/Phone/Validate?telephone=+&CountryCode=+".to_owned()),
        ("phone_validation_too_long", format!("/api/Phone/Validate?telephone={long}")),
    ] {
        let answer = app.get(&path).await.expect(400);
        snapshot(name, &answer);
    }
    for (name, query) in [("vat_required", "vat=+"), ("vat_unsupported", "country=ZZ&vat=1")] {
        let request = app.server.post(&format!("/api/Finance/Vat/Validator?{query}"));
        snapshot(name, &request.answer().await.expect(400));
    }
}

#[actix_web::test]
async fn faults_of_bodies() {
    let app = App::start().await;
    let long = "1".repeat(101);
    for (name, query, body) in [
        ("body_empty", "idType=SSN", String::new()),
        ("body_null", "", "null".to_owned()),
        ("body_no_object", "idType=SSN", "[]".to_owned()),
        ("body_syntax", "idType=7", "{\"number\":\n\"1\",}".to_owned()),
        ("body_depth", "idType=SSN", format!("{{\"number\":\n\n {}", "[".repeat(32))),
        ("members_required", "idType=SSN", "{\"number\":null}".to_owned()),
        ("members_type", "idType=SSN", "{\"NUMBER\":7,\"country\":[]}".to_owned()),
        ("members_length", "idType=SSN", format!("{{\"number\":\"{long}\",\"country\":\"\"}}")),
        (
            "members_unknown",
            "idType=x",
            "{\"extra\":1,\"number\":\"\",\"$.more\":2,\"\":3}".to_owned(),
        ),
        ("country_unsupported", "", "{\"number\":\"1\",\"country\":\"ZZ\"}".to_owned()),
    ] {
        let request = app.server.post(&format!("/api/SocialNumber?{query}"));
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        snapshot(name, &request.answer().await.expect(400));
    }
    let request = app.server.post("/api/SocialNumber?idType=SSN");
    let request =
        request.header(CONTENT_TYPE, "application/json").body(b"{\n\"a\":\"\xff\"}".to_vec());
    snapshot("body_not_utf8", &request.answer().await.expect(400));
}

#[actix_web::test]
async fn faults_of_requests() {
    let app = App::start().await;
    snapshot("not_found", &app.get("/api/Nothing").await.expect(404));
    let wrong_method = app.server.request(Method::DELETE, "/api/Card").answer().await;
    snapshot("method_not_allowed", &wrong_method.expect(405));
    let request = app.server.post("/api/SocialNumber?idType=SSN");
    let text = request.header(CONTENT_TYPE, "text/plain").body("{}").answer().await;
    snapshot("unsupported_media_type", &text.expect(415));
    let request = app.server.post("/api/SocialNumber?idType=SSN");
    let request = request.header(CONTENT_TYPE, "application/json").body(" ".repeat((1 << 20) + 1));
    snapshot("payload_too_large", &request.answer().await.expect(413));
}

#[actix_web::test]
async fn faults_of_callers() {
    let app = App::start().await;
    let request = app.server.get("/api/Card").header("X-Api-Key", "a").header("X-Api-Key", "b");
    snapshot("several_keys", &request.answer().await.expect(400));
    let request = app.server.get("/api/Card").header("X-Api-Key", "nonsense");
    snapshot("invalid_key", &request.answer().await.expect(401));
    let few = few().await;
    assert_eq!(few.get("/api/Card").await.status, 200);
    snapshot("too_many_requests", &few.get("/api/Card").await.expect(429));
    let settings = Settings { anonymous: Switch::Off, ..Settings::default() };
    let closed = App::start_with(settings).await;
    snapshot("missing_key", &closed.get("/api/Card").await.expect(401));
}
