use buckets::Settings;
use rstest::rstest;
use serde_json::json;

use crate::app::{Fixture, line};

const DOCX: &str = "student_resumes/resume1-1_thebackup_1519380372187.docx";

#[actix_web::test]
async fn golden_answer() {
    let fixture = Fixture::new();
    let bucket = "example.s3-eu-west-1.amazonaws.com";
    fixture.load_lines(&[
        &line(bucket, "a/b 2011 15", 2_549_108, 1_666_666_666),
        &line(bucket, "a/2011 07", 1, 0),
        &line(bucket, "a/2011 é#?%", 2, 0),
    ]);
    let app = fixture.serve("premium").await;
    let query = "keywords=2011+-07&full-path=1&excluded-buckets=4,+5&limit=2";
    let (status, body) = app.text(&format!("/api/v2/files?{query}")).await;
    assert_eq!(status, 200);
    insta::assert_snapshot!("search_files", body);
}

#[actix_web::test]
async fn headers_match_contract() {
    let app = Fixture::with_samples().serve("free").await;
    let get = app.server.get("/api/v2/files").bearer_auth(&app.key);
    let response = get.header("accept-encoding", "gzip").send().await.unwrap();
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(header("cache-control"), Some("private, no-store"));
    assert_eq!(header("content-encoding"), Some("gzip"));
    assert_eq!(header("access-control-allow-origin"), None);
    let head = app.server.request(reqwest::Method::HEAD, "/api/v2/files").bearer_auth(&app.key);
    let head = head.send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(head.text().await.unwrap(), "");
}

#[rstest]
#[case("keywords=thebackup", true)]
#[case("keywords=backup", false)]
#[case("keywords=15193", false)]
#[case("keywords=student", false)]
#[case("keywords=student&full-path=1", true)]
#[case("keywords=resume1-1", true)]
#[case("keywords=%221+resume1%22", false)]
#[case("keywords=THEBACKUP+-pdf", true)]
#[case("keywords=thebackup+-docx", false)]
#[case("keywords=1519380372187.DOCX", true)]
#[case("keywords=***", true)]
#[case("keywords=-pdf", true)]
#[case("keywords=resumes+resume1", false)]
#[case("keywords=resumes+resume1&full-path=TRUE", true)]
#[actix_web::test]
async fn keywords_match_whole_words_of_names(#[case] query: &str, #[case] found: bool) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line("a.s3.amazonaws.com", DOCX, 1, 1)]);
    let app = fixture.serve("free").await;
    assert_eq!(app.results(query).await, u64::from(found), "{query}");
}

#[rstest]
#[case("extensions=gz", &["a.tar.gz"])]
#[case("extensions=.TAR.gz", &["a.tar.gz"])]
#[case("extensions=js", &["jquery.min.js"])]
#[case("extensions=min.js,env", &["jquery.min.js", ".env"])]
#[case("extensions=nothing", &[])]
#[case("stopextensions=gz,js,env", &["README", "x."])]
#[case("size-from=2", &["jquery.min.js", ".env", "README", "x."])]
#[case("size-from=2&size-to=4", &["jquery.min.js"])]
#[case("size-from=4&size-to=4", &[])]
#[case("last-modified-from=0", &["a.tar.gz", "jquery.min.js", ".env", "x."])]
#[case("last-modified-to=20", &["a.tar.gz"])]
#[case("last-modified-from=10&last-modified-to=40", &["jquery.min.js", ".env"])]
#[case("buckets=1", &["a.tar.gz", "jquery.min.js"])]
#[case("buckets=HTTPS://s3.amazonaws.com/One/", &["a.tar.gz", "jquery.min.js"])]
#[case("bucket=s3://one", &["a.tar.gz", "jquery.min.js"])]
#[case("buckets=1&bucket=2", &["a.tar.gz", "jquery.min.js"])]
#[case("buckets=&bucket=2", &[".env", "README", "x."])]
#[case("buckets=99,nowhere.s3.amazonaws.com", &[])]
#[case("buckets=99,gs://two", &[".env", "README", "x."])]
#[case("excluded-buckets=1,99", &[".env", "README", "x."])]
#[case("types=gcp", &[".env", "README", "x."])]
#[case("types=AWS,gcp", &["a.tar.gz", "jquery.min.js", ".env", "README", "x."])]
#[case("types=azure", &[])]
#[case("order=size&direction=desc", &["x.", "README", ".env", "jquery.min.js", "a.tar.gz"])]
#[case("order=last_modified", &["README", "a.tar.gz", "jquery.min.js", ".env", "x."])]
#[case("direction=desc", &["a.tar.gz", "jquery.min.js", ".env", "README", "x."])]
#[case("start=3", &["README", "x."])]
#[case("start=5", &[])]
#[case("start=1&limit=1", &["jquery.min.js"])]
#[case("unknown=1&Keywords=nothing", &["a.tar.gz", "jquery.min.js", ".env", "README", "x."])]
#[actix_web::test]
async fn filters_and_orders_are_applied(#[case] query: &str, #[case] expected: &[&str]) {
    let (one, two) = ("one.s3.amazonaws.com", "two.storage.googleapis.com");
    let fixture = Fixture::new();
    fixture.load_lines(&[
        &line(one, "a.tar.gz", 2, 10),
        &line(one, "jquery.min.js", 3, 20),
        &line(two, ".env", 4, 30),
        &line(two, "README", 5, 0),
        &line(two, "x.", 6, 50),
    ]);
    let app = fixture.serve("premium").await;
    assert_eq!(app.paths(query).await, expected, "{query}");
}

#[actix_web::test]
async fn expressions_match_whole_names_and_report_corrections() {
    let fixture = Fixture::new();
    let bucket = "a.s3.amazonaws.com";
    fixture.load_lines(&[
        &line(bucket, "x/dump.sql", 1, 1),
        &line(bucket, "dump/1984.txt", 2, 1),
        &line(bucket, "dump.sql.bak", 3, 1),
    ]);
    let app = fixture.serve("premium").await;
    let (_, body) = app.get("/api/v2/files?keywords=19%5B0-9%5D%7B2%7D&regexp=1").await;
    assert_eq!(
        body["meta"],
        json!({
            "results": 1,
            "regexNotice": "The expression was changed to \".*19[0-9]{2}.*\": .* was added on both ends to find the text anywhere.",
        })
    );
    assert_eq!(body["query"]["keywords"], "19[0-9]{2}");
    assert_eq!(app.paths("keywords=^dump.*sql$&regexp=true").await, ["x/dump.sql"]);
    assert_eq!(
        app.paths("keywords=dump.*&regexp=1&full-path=1").await,
        ["dump/1984.txt", "dump.sql.bak"]
    );
    assert_eq!(app.paths("keywords=dump&regexp=1&noautocorrect=1").await, Vec::<String>::new());
    assert_eq!(app.results("keywords=dump&noautocorrect=1").await, 2);
    let sorted = app.paths("keywords=.*dump.*&regexp=1&order=size&direction=desc").await;
    assert_eq!(sorted, ["dump.sql.bak", "x/dump.sql"]);
}

#[actix_web::test]
async fn depth_limits_pages_with_notice() {
    let fixture = Fixture::new();
    let lines: Vec<String> =
        (0..10).map(|n| line("a.s3.amazonaws.com", &format!("{n}.txt"), n, 1)).collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    fixture
        .context
        .pools
        .write_blocking(|db| {
            let mut free = buckets::store::packages::of_plan(db, "free")?;
            free.depth = 4;
            buckets::store::packages::put(db, &free)
        })
        .unwrap();
    let app = fixture.serve("free").await;
    for (query, expected) in
        [("start=0", 4), ("start=3&limit=5", 1), ("start=4", 0), ("start=999999", 0)]
    {
        let (status, body) = app.get(&format!("/api/v2/files?{query}")).await;
        assert_eq!(status, 200);
        assert_eq!(body["files"].as_array().unwrap().len(), expected, "{query}");
        assert_eq!(
            body["meta"],
            json!({"results": 10, "notice": "Your package (free) shows the first 4 of 10 results."})
        );
    }
}

#[actix_web::test]
async fn search_of_an_index_newer_than_the_snapshot_includes_its_new_buckets() {
    let fixture = Fixture::new();
    let buckets = ["a", "b", "c"].map(|name| format!("{name}.s3.amazonaws.com"));
    fixture.load_lines(&[&line(&buckets[0], "1.txt", 1, 1)]);
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let app = fixture.serve_with("free", settings).await;
    let counts = async |path: &str, list: &str| {
        let (_, body) = app.get(path).await;
        (body["meta"]["results"].as_u64().unwrap(), body[list].as_array().unwrap().len())
    };
    // A refresh reads the index before it reads the buckets.
    let publish = |bucket: &str| {
        fixture.load_lines(&[&line(bucket, "1.txt", 1, 1)]);
        assert!(app.state.snapshot().index.refresh().unwrap());
    };
    publish(&buckets[1]);
    assert_eq!(counts("/api/v2/files", "files").await, (2, 2));
    publish(&buckets[2]);
    assert_eq!(counts("/api/v2/files/facets", "buckets").await, (3, 3));
}

#[actix_web::test]
async fn page_waits_for_memory_until_the_time_limit() {
    let fixture = Fixture::with_samples();
    let settings = Settings { search_timeout: 1, ..Settings::for_tests() };
    let impatient = fixture.serve_with("enterprise", settings).await;
    let path = "/api/v2/files?limit=10";
    let other = impatient.state.pages().acquire(1 << 30).await;
    assert_eq!(impatient.get(path).await.0, 503);
    drop((impatient, other));
    // The other searches must succeed, even if they take more than a second on a busy machine.
    let app = fixture.serve("enterprise").await;
    let other = app.state.pages().acquire(1 << 30).await;
    let none = app.get("/api/v2/files?keywords=nothingislikethis").await;
    assert_eq!(none.0, 200, "an empty page needs no memory");
    drop(other);
    for _ in 0..20 {
        assert_eq!(app.get(path).await.0, 200);
    }
    let all = app.state.pages().acquire_blocking(1 << 30, || Err(()));
    assert!(all.is_ok(), "sent pages have released their memory");
}
