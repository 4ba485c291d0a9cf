use buckets::Settings;
use rstest::rstest;

use crate::app::{Fixture, line};

fn filled() -> Fixture {
    let fixture = Fixture::new();
    let lines: Vec<String> = (0..25)
        .map(|n| line("a.s3.amazonaws.com", &format!("file {n}.txt"), n % 4, n % 3))
        .collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    fixture
}

#[rstest]
#[case("")]
#[case("order=size")]
#[case("order=last_modified&direction=desc")]
#[case("keywords=file")]
#[case("keywords=file&regexp=1&order=size&direction=desc")]
#[actix_web::test]
async fn scroll_pages_equal_offset_pages(#[case] query: &str) {
    let app = filled().serve("enterprise").await;
    let expected = app.paths(&format!("{query}&limit=1000")).await;
    let (mut found, mut id) = (Vec::new(), String::new());
    for limit in [7, 1, 10, 3, 100] {
        let path = format!(
            "/api/v2/files?{query}&paging-mode=scrolling&limit={limit}&start=9&scroll-id={id}"
        );
        let (status, body) = app.get(&path).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["meta"]["results"], 25);
        assert_eq!(body["query"]["start"], 0);
        let files = body["files"].as_array().unwrap();
        found.extend(files.iter().map(|file| file["fullPath"].as_str().unwrap().to_owned()));
        match body["meta"]["nextScrollId"].as_str() {
            Some(next) => id = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(found, expected);
}

#[actix_web::test]
async fn foreign_and_damaged_scroll_ids_are_400() {
    let fixture = filled();
    let app = fixture.serve("enterprise").await;
    let start = "/api/v2/files?paging-mode=scrolling&limit=2";
    let id = app.get(start).await.1["meta"]["nextScrollId"].as_str().unwrap().to_owned();
    assert_eq!(app.get(&format!("{start}&scroll-id={id}")).await.0, 200);
    assert_eq!(app.get(&format!("{start}&scrollId={id}")).await.0, 200);
    for path in [
        format!("{start}&keywords=file&scroll-id={id}"),
        format!("{start}&types=aws&scroll-id={id}"),
        format!("{start}&scroll-id={}", &id[1..]),
        format!("/api/v2/files?scroll-id={id}"),
    ] {
        let (status, body) = app.get(&path).await;
        assert_eq!((status, &body["code"]), (400, &"invalid_parameter".into()), "{path}");
        assert_eq!(body["parameter"], "scroll-id");
    }
    let other = fixture.key("another", "enterprise");
    let get = app.server.get(&format!("{start}&scroll-id={id}")).bearer_auth(other);
    assert_eq!(get.send().await.unwrap().status(), 400);
}

#[actix_web::test]
async fn scroll_expires_after_rebuild() {
    let fixture = filled();
    let app = fixture.serve("enterprise").await;
    let start = "/api/v2/files?paging-mode=scrolling&limit=2";
    let id = app.get(start).await.1["meta"]["nextScrollId"].as_str().unwrap().to_owned();
    buckets::jobs::rebuild(&fixture.context).unwrap();
    app.refresh();
    let (status, body) = app.get(&format!("{start}&scroll-id={id}")).await;
    assert_eq!((status, &body["code"]), (400, &"scroll_expired".into()));
    assert_eq!(app.get(start).await.0, 200);
}

#[actix_web::test]
async fn scroll_continues_on_a_server_that_has_not_noticed_a_rebuild() {
    let fixture = filled();
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let mut behind = fixture.serve_with("enterprise", settings).await;
    buckets::jobs::rebuild(&fixture.context).unwrap();
    let app = fixture.serve("enterprise").await;
    behind.key.clone_from(&app.key);
    let start = "/api/v2/files?paging-mode=scrolling&limit=2";
    let id = app.get(start).await.1["meta"]["nextScrollId"].as_str().unwrap().to_owned();
    let (status, body) = behind.get(&format!("{start}&scroll-id={id}")).await;
    assert_eq!(status, 200, "{body}");
}
