use futures_util::StreamExt;
use generator::Settings;
use serde_json::{Value, json};
use testkit::{Answer, Exchange};

use crate::app::App;

const MOST: &str = "/api/Text/LoremIpsum?loremType=normal&type=words&number=2147483647";

async fn post(app: &App, path: &str, body: &Value) -> Answer {
    app.server.post(path).json(body).answer().await
}

#[actix_web::test]
async fn text_has_the_requested_number_of_words_or_paragraphs() {
    let app = App::start().await;
    let answer = app.get("/api/Text/LoremIpsum?loremType=Normal&type=words&number=7&seed=a").await;
    assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
    assert_eq!((answer.header("x-seed"), answer.header("cache-control")), ("a", "no-store"));
    let text = answer.json();
    let text = text.as_str().unwrap();
    assert!(text.starts_with("Lorem ipsum dolor sit amet") && text.ends_with('.'), "{text}");
    assert_eq!(text.split(' ').count(), 7);
    let text =
        app.ok("/api/Text/LoremIpsum?loremType=business&type=paragraphs&number=20000&seed=a").await;
    assert_eq!(text.as_str().unwrap().split("<br>").count(), 20_000);
}

#[actix_web::test]
async fn invalid_text_parameters_are_reported_together() {
    let app = App::start().await;
    assert_eq!(
        app.errors("/api/Text/LoremIpsum?loremType=latin&number=0").await,
        json!({
            "loremType": ["The value 'latin' is not valid."],
            "type": ["A value for the 'type' parameter or property was not provided."],
            "number": ["The field number must be between 1 and 2147483647."],
        })
    );
    assert_eq!(
        app.errors("/api/Text/Password?length=251&hasDigits=1&hasUppercase=true&seed=x").await,
        json!({
            "length": ["The field length must be between 3 and 250."],
            "hasDigits": ["The value '1' is not valid."],
            "hasSpecial": [
                "A value for the 'hasSpecial' parameter or property was not provided."
            ],
            "seed": ["Passwords cannot be repeated: the seed parameter is not allowed."],
        })
    );
}

/// Returns the first bytes of a stream, together with the stream.
async fn begun(app: &App) -> (reqwest::Response, Vec<u8>) {
    let mut response = app.server.get(MOST).send().await.unwrap();
    let first = response.chunk().await.unwrap().unwrap_or_default().to_vec();
    (response, first)
}

#[actix_web::test]
async fn largest_text_streams_and_frees_its_slot_on_disconnect() {
    let settings = Settings { anonymous_streams: 1, anonymous_rpm: 0, ..Settings::default() };
    let app = App::start_with(settings).await;
    let (running, first) = begun(&app).await;
    assert!(first.starts_with(b"\"Lorem ipsum dolor sit amet"));
    assert!(running.headers().get("content-encoding").is_none());
    // The only slot is in use, but a short response does not need one.
    let refused = app.get(MOST).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "10"));
    app.ok("/api/Text/LoremIpsum?loremType=normal&type=words&number=100").await;
    let mut rest = running.bytes_stream();
    for _ in 0..20 {
        assert!(rest.next().await.unwrap().is_ok());
    }
    drop(rest);
    // The slot is released once the service notices that the client has disconnected.
    while app.server.get(MOST).header("accept-encoding", "gzip").send().await.unwrap().status()
        != 200
    {
        actix_web::rt::task::yield_now().await;
    }
}

#[actix_web::test]
async fn text_over_the_time_limit_is_aborted() {
    let settings = Settings { stream_max_time: 1, anonymous_rpm: 0, ..Settings::default() };
    let app = App::start_with(settings).await;
    let (running, first) = begun(&app).await;
    assert!(!first.is_empty());
    let mut rest = running.bytes_stream();
    let end = loop {
        match rest.next().await {
            Some(Ok(_)) => {}
            other => break other,
        }
    };
    assert!(end.is_some_and(|end| end.is_err()));
}

#[actix_web::test]
async fn head_of_the_largest_text_generates_nothing() {
    let app = App::start().await;
    let head = app.server.request("HEAD".parse().unwrap(), MOST).answer().await;
    assert_eq!((head.status, head.text()), (200, ""));
    assert_eq!(head.header("content-type"), "application/json; charset=utf-8");
}

#[actix_web::test]
async fn passwords_have_their_length_and_no_seed() {
    let app = App::start().await;
    let path = "/api/Text/Password?length=16&hasDigits=True&hasUppercase=false&hasSpecial=false";
    let answer = app.get(path).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(answer.headers.get("x-seed").is_none());
    let password = answer.json();
    let password = password.as_str().unwrap();
    assert_eq!(password.len(), 16);
    assert!(password.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    assert_ne!(app.ok(path).await, password);
}

#[actix_web::test]
async fn identifiers_become_sentences() {
    let app = App::start().await;
    let answer = post(&app, "/api/Text/Humanize", &json!({ "Text": "parseJSONFile" })).await;
    assert_eq!(answer.expect(200).json(), "Parse JSON file");
    for body in [json!({ "text": null }), json!({})] {
        assert_eq!(post(&app, "/api/Text/Humanize", &body).await.expect(200).json(), "");
    }
    for (body, errors) in [
        (json!(null), json!({ "": ["A non-empty request body is required."] })),
        (
            json!({ "text": 7, "extra": 1 }),
            json!({
                "$.extra": ["The property 'extra' is not allowed."],
                "$.text": ["The property 'text' must be a string."],
            }),
        ),
    ] {
        let answer = post(&app, "/api/Text/Humanize", &body).await.expect(400);
        assert_eq!(answer.json()["errors"], errors);
    }
}

#[actix_web::test]
async fn texts_are_transformed_or_replaced() {
    let app = App::start().await;
    let change = async |query: &str, text: &str| {
        let path = format!("/api/Text/Transform?{query}");
        post(&app, &path, &json!({ "text": text })).await.expect(200).json()
    };
    let title = "textActionType=transform&caseType=titlecase&find=ignored";
    assert_eq!(change(title, "the lord of the rings").await, "The Lord of the Rings");
    assert_eq!(change("textActionType=Transform&caseType=UpperCase", "stra\"ße").await, "STRA\"ßE");
    let replace = "textActionType=Replace&find=%20&replace=%22";
    assert_eq!(change(replace, "a b c").await, "a\"b\"c");
    assert_eq!(change("textActionType=Replace&find=b&caseType=LowerCase", "aBbc").await, "aBc");
}

#[actix_web::test]
async fn replacement_may_lengthen_a_text() {
    let app = App::start().await;
    let text = "a".repeat(200_000);
    let path =
        format!("/api/Text/Transform?textActionType=Replace&find=a&replace={}", "ä".repeat(20));
    let long = post(&app, &path, &json!({ "text": text })).await.expect(200).json();
    assert_eq!(long.as_str().unwrap(), "ä".repeat(20 * 200_000));
    let path = "/api/Text/Transform?textActionType=Transform&caseType=UpperCase";
    let text = "é\n".repeat(100_000);
    let long = post(&app, path, &json!({ "text": text })).await.expect(200).json();
    assert_eq!(long.as_str().unwrap(), "É\n".repeat(100_000));
}

#[actix_web::test]
async fn parameters_of_a_text_change_are_required() {
    let app = App::start().await;
    let errors = async |query: &str, body: &Value| {
        let path = format!("/api/Text/Transform?{query}");
        post(&app, &path, body).await.expect(400).json()["errors"].take()
    };
    let absent = |name: &str| {
        json!([format!("A value for the '{name}' parameter or property was not provided.")])
    };
    let empty = json!({});
    assert_eq!(errors("", &empty).await, json!({ "textActionType": absent("textActionType") }));
    assert_eq!(
        errors("textActionType=Transform", &empty).await,
        json!({ "caseType": absent("caseType") })
    );
    assert_eq!(
        errors("textActionType=Replace&find=", &json!({ "x": 1 })).await,
        json!({
            "$.x": ["The property 'x' is not allowed."],
            "find": ["The find field is required."],
        })
    );
}
