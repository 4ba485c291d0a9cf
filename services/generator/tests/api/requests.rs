use reqwest::Method;
use serde_json::json;

use testkit::{Answer, Exchange};

use crate::app::App;

#[actix_web::test]
async fn unknown_paths_are_404_in_the_problem_format() {
    let app = App::start().await;
    for path in ["/api", "/api/Card/Nothing", "/api/Card/Types/x"] {
        let response = app.get(path).await;
        assert_eq!(response.status, 404, "{path}");
        let body = response.json();
        assert_eq!(body["title"], "Not Found");
        assert_eq!(body["type"], "https://tools.ietf.org/html/rfc9110#section-15.5.5");
        let trace: Vec<_> = body["traceId"].as_str().unwrap().split('-').collect();
        assert_eq!(trace.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2]);
    }
}

#[actix_web::test]
async fn wrong_methods_are_405_with_the_allowed_ones() {
    let app = App::start().await;
    let response = app.server.request(Method::DELETE, "/api/card").answer().await;
    assert_eq!(response.status, 405);
    assert_eq!(response.header("allow"), "GET, HEAD");
    assert_eq!(response.json()["title"], "Method Not Allowed");
}

#[actix_web::test]
async fn head_is_get_without_the_body() {
    let app = App::start().await;
    let path = "/api/Card?type=Visa&seed=demo";
    let head = app.server.request(Method::HEAD, path).answer().await;
    assert_eq!(head.status, 200);
    assert_eq!(head.header("x-seed"), "demo");
    assert_eq!(head.text(), "");
}

#[actix_web::test]
async fn value_that_is_not_utf8_is_a_fault_of_its_parameter_alone() {
    let app = App::start().await;
    let not_valid = |value: &str| json!([format!("The value '{value}' is not valid.")]);
    let long = format!("/api/Card?TYPE=%FF&seed={}", "x".repeat(70));
    let too_long = "The field seed must be a string or array type with a maximum length of '64'.";
    assert_eq!(app.errors(&long).await, json!({ "type": not_valid("%FF"), "seed": [too_long] }));
    assert_eq!(
        app.errors("/api/Name?nametype=%FF&QUANTITY=1%80&cultureCode=").await,
        json!({ "nameType": not_valid("%FF"), "quantity": not_valid("1%80") })
    );
    assert_eq!(
        app.errors("/api/Phone/Validate?telephone=%C3&CountryCode=%C3%28").await,
        json!({ "telephone": not_valid("%C3"), "CountryCode": not_valid("%C3%28") })
    );
    // Unknown parameters are ignored, even if their value is invalid.
    let card = app.ok("/api/Card?seed=a").await;
    assert_eq!(app.ok("/api/Card?x=%FF&%FF=1&seed=a&seed=%FF").await, card);
}

/// Returns the text of a 400 response up to its trace id.
fn without_trace(answer: &Answer) -> &str {
    assert_eq!(answer.status, 400);
    answer.text().split_once(r#""traceId":""#).unwrap().0
}

#[actix_web::test]
async fn body_of_a_400_matches_the_contract() {
    let app = App::start().await;
    assert_eq!(
        without_trace(&app.get("/api/Name?quantity=0&nameType=x").await),
        concat!(
            r#"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","#,
            r#""title":"One or more validation errors occurred.","status":400,"#,
            r#""errors":{"nameType":["The value 'x' is not valid."],"#,
            r#""quantity":["The field quantity must be between 1 and 5000."]},"#,
        )
    );
    let request = app.server.post("/api/SocialNumber?idType=x");
    let request = request.header("content-type", "application/json");
    let response = request.body(r#"{"extra":1,"number":"","more":2}"#).answer().await;
    assert_eq!(
        without_trace(&response),
        concat!(
            r#"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","#,
            r#""title":"One or more validation errors occurred.","status":400,"#,
            r#""errors":{"$.extra":["The property 'extra' is not allowed."],"#,
            r#""$.more":["The property 'more' is not allowed."],"#,
            r#""idType":["The value 'x' is not valid."],"#,
            r#""Number":["The field Number must be a string with a minimum length of 1 and a "#,
            r#"maximum length of 100."],"Country":["The Country field is required."]},"#,
        )
    );
}

#[actix_web::test]
async fn quantities_outside_their_range_are_400() {
    let app = App::start().await;
    for (path, name, most) in [
        ("/api/Name?nameType=surname", "quantity", 5000),
        ("/api/Phone/Generate?CountryCode=FR", "Quantity", 1000),
        ("/api/Phone/IMEI?seed=1", "Quantity", 1000),
    ] {
        for quantity in [1, most] {
            let list = app.ok(&format!("{path}&quantity={quantity}")).await;
            assert_eq!(list.as_array().unwrap().len(), quantity, "{path}");
        }
        for quantity in [0, most + 1] {
            let message = format!("The field {name} must be between 1 and {most}.");
            assert_eq!(
                app.errors(&format!("{path}&quantity={quantity}")).await,
                json!({ name: [message] })
            );
        }
    }
}

#[actix_web::test]
async fn documents_are_found_in_any_case_and_read_only() {
    let app = App::start().await;
    for path in ["/OpenAPI.json", "/DOCS/", "/Docs/Index.html", "/docs/"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
        let response = app.server.post(path).answer().await;
        assert_eq!(response.status, 405, "{path}");
        assert_eq!(response.header("allow"), "GET, HEAD");
        assert_eq!(response.json()["title"], "Method Not Allowed");
    }
    assert_eq!(app.get("/DOCS").await.header("location"), "/docs/");
}

#[actix_web::test]
async fn browsers_of_any_origin_may_call_and_read_the_headers() {
    let app = App::start().await;
    let preflight = app
        .server
        .request(Method::OPTIONS, "/api/Card")
        .header("origin", "https://example.org")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "x-api-key");
    let response = preflight.answer().await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), "*");
    assert_eq!(response.header("access-control-allow-methods"), "GET, POST, PUT, DELETE");
    assert_eq!(response.header("access-control-allow-headers"), "X-Api-Key, Content-Type");
    let response = app.get("/api/Card?type=none").await;
    assert_eq!(response.header("access-control-allow-origin"), "*");
    assert!(response.header("access-control-expose-headers").contains("RateLimit-Remaining"));
}

#[actix_web::test]
async fn long_answers_are_compressed_if_accepted() {
    let app = App::start().await;
    let request = |coding: &str| {
        let path = "/api/Name?nameType=fullname&quantity=500&seed=z";
        app.server.get(path).header("accept-encoding", coding).answer()
    };
    let plain = request("identity").await;
    assert_eq!(plain.header("content-encoding"), "");
    let plain = plain.body;
    for coding in ["gzip", "br"] {
        let packed = request(coding).await;
        assert_eq!(packed.header("content-encoding"), coding);
        assert!(packed.body.len() < plain.len());
    }
}
