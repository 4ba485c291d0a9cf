use reqwest::Method;
use serde_json::Value;

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
async fn query_that_is_not_utf8_is_400() {
    let fixture = Fixture::start().await;
    let errors = fixture.errors("/api/Card?type=%FF").await;
    assert!(errors["type"][0].is_string(), "{errors}");
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
