//! Failures outside handlers use the service's error format.

use super::echo::{Started, client};

async fn text_of(started: &Started, path: &str) -> (u16, String) {
    let answer = started.get(path).await;
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[actix_web::test]
async fn an_unknown_path_is_404() {
    let started = Started::new().await;
    assert_eq!(text_of(&started, "/nowhere").await, (404, "GET /nowhere: NotFound".into()));
    assert_eq!(text_of(&started, "/repeat/1/2").await.0, 404);
}

#[actix_web::test]
async fn a_known_path_with_another_method_is_405_with_the_methods() {
    let started = Started::new().await;
    let answer = client().delete(started.url("/repeat/3")).send().await.unwrap();
    assert_eq!(answer.status(), 405);
    assert_eq!(answer.headers()["allow"], "GET, HEAD");
    let answer = client().get(started.url("/note")).send().await.unwrap();
    assert_eq!(answer.headers()["allow"], "POST");
}

#[actix_web::test]
async fn the_document_and_its_pages_have_methods_too() {
    let started = Started::new().await;
    for path in ["/openapi.json", "/docs/", "/docs/index.html"] {
        for method in [reqwest::Method::POST, reqwest::Method::DELETE] {
            let answer = client().request(method, started.url(path)).send().await.unwrap();
            assert_eq!(answer.status(), 405, "{path}");
            assert_eq!(answer.headers()["allow"], "GET, HEAD", "{path}");
        }
        let answer = client().head(started.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
}

#[actix_web::test]
async fn pages_and_health_checks_can_only_be_read() {
    let started = Started::new().await;
    for path in ["/page", "/healthz", "/readyz"] {
        for method in [reqwest::Method::POST, reqwest::Method::DELETE, reqwest::Method::TRACE] {
            let answer = client().request(method, started.url(path)).send().await.unwrap();
            assert_eq!(answer.status(), 405, "{path}");
            assert_eq!(answer.headers()["allow"], "GET, HEAD", "{path}");
            assert!(answer.headers().contains_key("x-request-id"), "{path}");
        }
        assert_eq!(started.get(path).await.status(), 200, "{path}");
        let answer = client().head(started.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
}

#[actix_web::test]
async fn invalid_parameters_name_the_field() {
    let started = Started::new().await;
    for (path, expected) in [
        ("/count?count=10", "GET /count: count: count must be between 1 and 9"),
        ("/repeat/10", "GET /repeat/10: count: count must be between 1 and 9"),
    ] {
        assert_eq!(text_of(&started, path).await, (400, expected.to_owned()));
    }
    for path in ["/count", "/count?count=x", "/count?count=-1", "/repeat/x", "/repeat/1?text=%FF"] {
        assert_eq!(text_of(&started, path).await.0, 400, "{path}");
    }
    assert_eq!(text_of(&started, "/count?count=9").await, (200, "9".to_owned()));
    assert_eq!(text_of(&started, "/repeat/2?text=%C3%BC+").await, (200, "ü ü ".to_owned()));
}

#[actix_web::test]
async fn bodies_are_checked_for_type_syntax_and_length() {
    let started = Started::new().await;
    let post = async |kind: &str, body: String| {
        let request = client().post(started.url("/note")).header("content-type", kind).body(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let json = "application/json; charset=utf-8";
    assert_eq!(post(json, r#"{"text":"hi"}"#.into()).await, (200, "hi".into()));
    assert_eq!(post("application/merge+json", r#"{"text":"hi"}"#.into()).await.0, 200);
    assert_eq!(post("text/plain", "{}".into()).await.0, 415);
    assert_eq!(post(json, "{\n oops".into()).await, (400, "POST /note: malformed at 2:2".into()));
    assert_eq!(post(json, r#"{"text":""}"#.into()).await.0, 400);
    assert_eq!(post(json, r#"{"text":1}"#.into()).await.0, 400);
    assert_eq!(post(json, " ".repeat((1 << 20) + 1)).await.0, 413);
}

#[actix_web::test]
async fn a_panic_is_500_and_the_server_continues() {
    let started = Started::new().await;
    for path in ["/panics", "/panics-first"] {
        assert_eq!(text_of(&started, path).await, (500, format!("GET {path}: internal")));
    }
    assert_eq!(text_of(&started, "/count?count=1").await.0, 200);
}

#[actix_web::test]
async fn an_incomplete_body_is_an_error_even_if_it_could_be_parsed() {
    use std::io::{Read, Write};
    let started = Started::new().await;
    let address = started.running.http;
    let head = "POST /note HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    for rest in [
        "content-length: 99\r\n\r\n{\"text\":\"x\"}",
        "transfer-encoding: chunked\r\n\r\nc\r\n{\"text\":\"x\"}\r\n",
    ] {
        let request = format!("{head}{rest}");
        let ask = actix_web::web::block(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        });
        let answer = ask.await.unwrap().unwrap_or_default();
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[actix_web::test]
async fn a_panic_is_counted() {
    let started = Started::new().await;
    let count = async || {
        let metrics = client().get(started.admin("/metrics")).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let name = "http_requests_total{method=\"GET\",route=\"/panics\",status=\"500\"} ";
        let told = metrics.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
        told.unwrap_or(0)
    };
    let before = count().await;
    assert_eq!(started.get("/panics").await.status(), 500);
    assert!(count().await > before);
}
