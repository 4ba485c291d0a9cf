use reqwest::Method;
use serde_json::{Value, json};

use super::{Fixture, header};

#[actix_web::test]
async fn unknown_paths_are_404_in_the_problem_format() {
    let fixture = Fixture::start().await;
    for path in ["/", "/api", "/api/Card/Nothing", "/api/Card/Types/x"] {
        let response = fixture.get(path).await;
        assert_eq!(response.status(), 404, "{path}");
        let body = response.json::<Value>().await.unwrap();
        assert_eq!(body["title"], "Not Found");
        assert_eq!(body["type"], "https://tools.ietf.org/html/rfc9110#section-15.5.5");
        let trace: Vec<_> = body["traceId"].as_str().unwrap().split('-').collect();
        assert_eq!(trace.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2]);
    }
}

#[actix_web::test]
async fn wrong_methods_are_405_with_the_allowed_ones() {
    let fixture = Fixture::start().await;
    let response = fixture.server.request(Method::DELETE, "/api/card").send().await.unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(header(&response, "allow"), "GET, HEAD");
    assert_eq!(response.json::<Value>().await.unwrap()["title"], "Method Not Allowed");
}

#[actix_web::test]
async fn head_is_get_without_the_body() {
    let fixture = Fixture::start().await;
    let path = "/api/Card?type=Visa&seed=demo";
    let head = fixture.server.request(Method::HEAD, path).send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(header(&head, "x-seed"), "demo");
    assert_eq!(head.text().await.unwrap(), "");
}

#[actix_web::test]
async fn value_that_is_not_utf8_is_a_fault_of_its_parameter_alone() {
    let fixture = Fixture::start().await;
    let not_valid = |value: &str| json!([format!("The value '{value}' is not valid.")]);
    let long = format!("/api/Card?TYPE=%FF&seed={}", "x".repeat(70));
    let too_long = "The field seed must be a string or array type with a maximum length of '64'.";
    assert_eq!(
        fixture.errors(&long).await,
        json!({ "type": not_valid("%FF"), "seed": [too_long] })
    );
    assert_eq!(
        fixture.errors("/api/Name?nametype=%FF&QUANTITY=1%80&cultureCode=").await,
        json!({ "nameType": not_valid("%FF"), "quantity": not_valid("1%80") })
    );
    assert_eq!(
        fixture.errors("/api/Phone/Validate?telephone=%C3&CountryCode=%C3%28").await,
        json!({ "telephone": not_valid("%C3"), "CountryCode": not_valid("%C3%28") })
    );
    // What no operation asks for is ignored, whatever it holds.
    let card = fixture.ok("/api/Card?seed=a").await;
    assert_eq!(fixture.ok("/api/Card?x=%FF&%FF=1&seed=a&seed=%FF").await, card);
}

/// The text of an answer up to its trace id, whose form is checked.
async fn without_trace(response: reqwest::Response) -> String {
    assert_eq!(response.status(), 400);
    assert_eq!(header(&response, "content-type"), "application/problem+json; charset=utf-8");
    let text = response.text().await.unwrap();
    let (front, trace) = text.split_once(r#""traceId":""#).unwrap();
    let parts: Vec<_> = trace.strip_suffix("\"}").unwrap().split('-').collect();
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2]);
    assert!(
        parts.concat().bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        "{trace}"
    );
    assert_eq!([parts[0], parts[3]], ["00", "00"]);
    front.to_owned()
}

#[actix_web::test]
async fn whole_body_of_a_400_is_as_the_contract_says() {
    let fixture = Fixture::start().await;
    assert_eq!(
        without_trace(fixture.get("/api/Name?quantity=0&nameType=x").await).await,
        concat!(
            r#"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","#,
            r#""title":"One or more validation errors occurred.","status":400,"#,
            r#""errors":{"nameType":["The value 'x' is not valid."],"#,
            r#""quantity":["The field quantity must be between 1 and 5000."]},"#,
        )
    );
    let request = fixture.server.post("/api/SocialNumber?idType=x");
    let request = request.header("content-type", "application/json");
    let response = request.body(r#"{"extra":1,"number":"","more":2}"#).send().await.unwrap();
    assert_eq!(
        without_trace(response).await,
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
async fn quantities_end_at_their_bounds() {
    let fixture = Fixture::start().await;
    for (path, name, most) in [
        ("/api/Name?nameType=surname", "quantity", 5000),
        ("/api/Phone/Generate?CountryCode=FR", "Quantity", 1000),
        ("/api/Phone/IMEI?seed=1", "Quantity", 1000),
    ] {
        for quantity in [1, most] {
            let list = fixture.ok(&format!("{path}&quantity={quantity}")).await;
            assert_eq!(list.as_array().unwrap().len(), quantity, "{path}");
        }
        for quantity in [0, most + 1] {
            let message = format!("The field {name} must be between 1 and {most}.");
            assert_eq!(
                fixture.errors(&format!("{path}&quantity={quantity}")).await,
                json!({ name: [message] })
            );
        }
    }
}

#[actix_web::test]
async fn documents_are_found_in_any_case_and_read_only() {
    let fixture = Fixture::start().await;
    for path in ["/OpenAPI.json", "/DOCS/", "/Docs/Index.html", "/docs/"] {
        assert_eq!(fixture.get(path).await.status(), 200, "{path}");
        let response = fixture.server.post(path).send().await.unwrap();
        assert_eq!(response.status(), 405, "{path}");
        assert_eq!(header(&response, "allow"), "GET, HEAD");
        assert_eq!(response.json::<Value>().await.unwrap()["title"], "Method Not Allowed");
    }
    assert_eq!(header(&fixture.get("/DOCS").await, "location"), "/docs/");
}

#[actix_web::test]
async fn browsers_of_any_origin_may_call_and_read_the_headers() {
    let fixture = Fixture::start().await;
    let preflight = fixture
        .server
        .request(Method::OPTIONS, "/api/Card")
        .header("origin", "https://example.org")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "x-api-key");
    let response = preflight.send().await.unwrap();
    assert_eq!(response.status(), 204);
    assert_eq!(header(&response, "access-control-allow-origin"), "*");
    assert_eq!(header(&response, "access-control-allow-methods"), "GET, POST");
    assert_eq!(header(&response, "access-control-allow-headers"), "X-Api-Key, Content-Type");
    let response = fixture.get("/api/Card?type=none").await;
    assert_eq!(header(&response, "access-control-allow-origin"), "*");
    assert!(header(&response, "access-control-expose-headers").contains("RateLimit-Remaining"));
}

#[actix_web::test]
async fn long_answers_are_compressed_when_asked_for() {
    let fixture = Fixture::start().await;
    let request = |coding: &str| {
        let path = "/api/Name?nameType=fullname&quantity=500&seed=z";
        fixture.server.get(path).header("accept-encoding", coding).send()
    };
    let plain = request("identity").await.unwrap();
    assert_eq!(header(&plain, "content-encoding"), "");
    let plain = plain.bytes().await.unwrap();
    for coding in ["gzip", "br"] {
        let packed = request(coding).await.unwrap();
        assert_eq!(header(&packed, "content-encoding"), coding);
        assert!(packed.bytes().await.unwrap().len() < plain.len());
    }
}
