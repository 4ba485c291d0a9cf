use serde_json::{Value, json};

use testkit::{Answer, Exchange};

use crate::app::App;

async fn post(app: &App, kind: &str, body: &str) -> Answer {
    let request = app.server.post("/api/SocialNumber?idType=SSN").header("content-type", kind);
    request.body(body.to_owned()).answer().await
}

async fn errors(app: &App, body: &str) -> Value {
    let response = post(app, "application/json", body).await;
    assert_eq!(response.status, 400, "{body}");
    response.json()["errors"].take()
}

#[actix_web::test]
async fn generated_number_has_its_format_and_passes_the_check() {
    let app = App::start().await;
    for _ in 0..50 {
        let number = app.ok("/api/SocialNumber").await;
        assert_eq!(number.as_str().unwrap().len(), 11);
        let body = json!({ "number": number, "country": "us" }).to_string();
        let answer = post(&app, "application/json", &body).await;
        assert_eq!(answer.json(), json!({ "isValid": true, "errorMessage": null }));
    }
}

#[actix_web::test]
async fn every_json_media_type_is_read_and_refuses_unknown_members() {
    let app = App::start().await;
    for kind in [
        "application/json",
        "application/json-patch+json",
        "text/json; charset=utf-8",
        "application/vnd.any+json",
    ] {
        let good = post(&app, kind, r#"{"Number":"536-90-4399","COUNTRY":"US"}"#).await;
        assert_eq!(good.status, 200, "{kind}");
        let bad = post(&app, kind, r#"{"number":"1","country":"US","extra":1}"#).await;
        assert_eq!(bad.status, 400, "{kind}");
        let message = "The property 'extra' is not allowed.";
        assert_eq!(bad.json()["errors"], json!({ "$.extra": [message] }), "{kind}");
    }
}

#[actix_web::test]
async fn other_media_types_are_415() {
    let app = App::start().await;
    for kind in ["text/plain", "application/json; charset=utf-16", "application/xml"] {
        let response = post(&app, kind, r#"{"number":"1","country":"US"}"#).await;
        assert_eq!(response.status, 415, "{kind}");
        let body = response.json();
        assert_eq!(body["title"], "Unsupported Media Type");
    }
    let untyped = app.server.post("/api/SocialNumber?idType=SSN").body("{}");
    assert_eq!(untyped.answer().await.status, 415);
}

#[actix_web::test]
async fn large_body_is_413() {
    let app = App::start().await;
    let body = format!(r#"{{"number":"{}"}}"#, "1".repeat(1 << 20));
    let response = post(&app, "application/json", &body).await;
    assert_eq!(response.status, 413);
    assert_eq!(response.json()["title"], "Payload Too Large");
}

#[actix_web::test]
async fn body_faults_name_their_members() {
    let app = App::start().await;
    for empty in ["", "null"] {
        let message = "A non-empty request body is required.";
        assert_eq!(errors(&app, empty).await, json!({ "": [message] }));
    }
    assert_eq!(
        errors(&app, r#"{"number":null}"#).await,
        json!({
            "Number": ["The Number field is required."],
            "Country": ["The Country field is required."],
        })
    );
    let long = "1".repeat(101);
    let length = |name: &str, most: u32| {
        format!(
            "The field {name} must be a string with a minimum length of 1 and a maximum length of \
             {most}."
        )
    };
    assert_eq!(
        errors(&app, &json!({ "number": long, "country": "USA" }).to_string()).await,
        json!({ "Number": [length("Number", 100)], "Country": [length("Country", 2)] })
    );
    assert_eq!(
        errors(&app, r#"{"number":"","country":"ZZ"}"#).await,
        json!({
            "Number": [length("Number", 100)],
            "Country": ["The value 'ZZ' is not supported."],
        })
    );
    let malformed = errors(&app, "{\"number\":\n\"1\",}").await;
    assert_eq!(malformed, json!({ "$": ["The body is not JSON: line 2, column 5."] }));
}

#[actix_web::test]
async fn parameter_and_body_faults_are_reported_together() {
    let app = App::start().await;
    let request = app.server.post("/api/SocialNumber?idType=7");
    let request = request.header("content-type", "application/json").body(r#"{"number":"1"}"#);
    let body = request.answer().await.json();
    assert_eq!(
        body["errors"],
        json!({
            "idType": ["The value '7' is not valid."],
            "Country": ["The Country field is required."],
        })
    );
}

#[actix_web::test]
async fn unsupported_country_is_reported_even_without_a_kind() {
    let app = App::start().await;
    let faults = async |country: &str| {
        let body = json!({ "number": "1", "country": country });
        let response = app.server.post("/api/SocialNumber").json(&body).answer().await;
        response.json()["errors"].take()
    };
    let missing = "A value for the 'idType' parameter or property was not provided.";
    assert_eq!(
        faults("ZZ").await,
        json!({ "idType": [missing], "Country": ["The value 'ZZ' is not supported."] })
    );
    // One of these countries has only tax numbers, the other only identity numbers.
    for country in ["DZ", "CU"] {
        assert_eq!(faults(country).await, json!({ "idType": [missing] }), "{country}");
    }
}

#[actix_web::test]
async fn kind_selects_the_schemes_to_check() {
    let app = App::start().await;
    let check = async |kind: &str, number: &str| {
        let request = app.server.post(&format!("/api/SocialNumber?idType={kind}"));
        let body = json!({ "number": number, "country": "SE" });
        let response = request.json(&body).answer().await;
        response.json()["isValid"].as_bool().unwrap()
    };
    assert!(check("ssn", "880320-0016").await);
    assert!(!check("vat", "880320-0016").await);
    assert!(check("VAT", "SE 123456789701").await);
}

#[actix_web::test]
async fn national_numbers_encode_the_requested_person() {
    let app = App::start().await;
    let path = "/api/SocialNumber?country=se&birthDate=1984-02-29&sex=female&quantity=5";
    for number in app.ok(path).await.as_array().unwrap() {
        let number = number.as_str().unwrap();
        assert!(number.starts_with("19840229") && number.as_bytes()[10] % 2 == 0, "{number}");
    }
    let tax = app.ok("/api/SocialNumber?country=DE&idType=VAT&seed=a").await;
    assert_eq!(tax.as_str().unwrap().len(), 9);
    let long = app.ok("/api/SocialNumber?country=PL&seed=a&quantity=50").await;
    let short = app.ok("/api/SocialNumber?country=PL&seed=a&quantity=3").await;
    assert_eq!(long.as_array().unwrap()[..3], short.as_array().unwrap()[..]);
    assert_eq!(app.ok("/api/SocialNumber?country=PL&seed=a").await, short[0]);
}

#[actix_web::test]
async fn every_country_has_numbers_over_http() {
    let app = App::start().await;
    for (kind, countries) in [
        (
            "SSN",
            "AD AR AT AU BE BG BR CA CH CL CN CO CR CU CZ SK DE DK DO EC EE ES FI FR GB GR HR ID IE \
                 IL IN IS IT JP KR LI LT LV MD MU MX MY NL NO NZ PE PK PL PT RO RU SE SI SV TH TR UA US \
                 VE ZA",
        ),
        ("VAT", "AT BE BG BR CH CN CZ DE ES FR GB IE IN IT MT MX NL PL RO RU SG EU IM"),
    ] {
        for country in countries.split_whitespace() {
            let path = format!("/api/SocialNumber?country={country}&idType={kind}&quantity=20");
            for number in app.ok(&path).await.as_array().unwrap() {
                let body = json!({ "number": number, "country": country });
                let request = app.server.post(&format!("/api/SocialNumber?idType={kind}"));
                let answer = request.json(&body).answer().await.json();
                assert_eq!(answer["isValid"], true, "{country} {number}");
            }
        }
    }
}

#[actix_web::test]
async fn invalid_parameters_of_the_wanted_person_are_400() {
    let app = App::start().await;
    for (query, errors) in [
        ("country=ZZ", json!({ "country": ["The value 'ZZ' is not supported."] })),
        ("birthDate=2001-02-29", json!({ "birthDate": ["The value '2001-02-29' is not valid."] })),
        ("sex=other", json!({ "sex": ["The value 'other' is not valid."] })),
        ("quantity=0", json!({ "quantity": ["The field quantity must be between 1 and 1000."] })),
        (
            "birthDate=2026-11-21",
            json!({
                "birthDate": ["The field birthDate must be between 1900-01-01 and 2026-11-20."]
            }),
        ),
        (
            "birthDate=1899-12-31",
            json!({
                "birthDate": ["The field birthDate must be between 1900-01-01 and 2026-11-20."]
            }),
        ),
    ] {
        assert_eq!(app.errors(&format!("/api/SocialNumber?{query}")).await, errors, "{query}");
    }
}

#[actix_web::test]
async fn kind_of_a_valid_number_is_returned() {
    let app = App::start().await;
    for (number, kind) in [("8643010123", json!("foreigner number")), ("7523169263", json!(null))] {
        let body = json!({ "number": number, "country": "BG" }).to_string();
        let request = app.server.post("/api/SocialNumber?idType=SSN");
        let request = request.header("content-type", "application/json").body(body);
        let answer = request.answer().await.expect(200).json();
        assert_eq!(answer["isValid"], true, "{number}");
        assert_eq!(answer["kind"], kind, "{number}");
    }
}
