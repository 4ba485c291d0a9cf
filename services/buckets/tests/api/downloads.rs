//! Search results as CSV and NDJSON.

use buckets::Settings;
use database::{DatabaseError, Db};
use diesel::RunQueryDsl;
use diesel::dsl::sql;
use diesel::sql_types::BigInt;
use reqwest::header::{ACCEPT, HeaderMap};
use rstest::rstest;
use serde_json::Value;

use crate::app::{App, Fixture, line};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

impl App {
    /// Returns a download's status, headers and body.
    async fn download(&self, query: &str, accept: &str) -> (u16, HeaderMap, String) {
        let response = self.begin(query, accept).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        (status, headers, response.text().await.unwrap())
    }

    /// Returns a response whose body has not been read yet.
    async fn begin(&self, query: &str, accept: &str) -> reqwest::Response {
        let request = self.server.get(&format!("/api/v2/files?{query}"));
        request.bearer_auth(&self.key).header(ACCEPT, accept).send().await.unwrap()
    }
}

/// Loads files with these names and serves them.
async fn serve_names(names: impl Iterator<Item = String>, plan: &str) -> (Fixture, App) {
    let fixture = Fixture::new();
    let lines: Vec<String> = names.map(|name| line(A, &name, 1, 1)).collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let app = fixture.serve(plan).await;
    (fixture, app)
}

fn header(headers: &HeaderMap, name: &str) -> String {
    headers[name].to_str().unwrap().to_owned()
}

#[rstest]
#[case("")]
#[case("keywords=backup")]
#[case("order=size&direction=desc")]
#[case("keywords=.*\\.(pdf|txt)&regexp=1&order=last_modified")]
#[case("extensions=pdf&start=2")]
#[case("keywords=nothing-has-this-name")]
#[actix_web::test]
async fn downloads_have_the_same_files_in_the_same_order_as_json(#[case] query: &str) {
    let app = Fixture::with_samples().serve("premium").await;
    let (_, json) = app.get(&format!("/api/v2/files?{query}&limit=1000")).await;
    let files = json["files"].as_array().unwrap();
    let results = json["meta"]["results"].to_string();

    let (status, headers, body) = app.download(query, NDJSON).await;
    assert_eq!(status, 200, "{body}");
    let lines: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, files);
    assert_eq!(header(&headers, "content-type"), "application/x-ndjson; charset=utf-8");
    assert_eq!(header(&headers, "content-disposition"), "attachment; filename=\"files.ndjson\"");
    assert_eq!(header(&headers, "x-results"), results);
    assert_eq!(header(&headers, "x-files"), files.len().to_string());
    assert_eq!(header(&headers, "cache-control"), "private, no-store");
    assert!(header(&headers, "vary").contains("Accept"), "{headers:?}");

    let (_, headers, body) = app.download(query, CSV).await;
    assert_eq!(header(&headers, "content-type"), "text/csv; charset=utf-8; header=present");
    assert!(body.starts_with("bucket,type,fullPath,size,lastModified,url\r\n"), "{body}");
    let mut reader = csv::Reader::from_reader(body.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), files.len());
    for (row, file) in rows.iter().zip(files) {
        let paths = (file["fullPath"].as_str().unwrap(), file["url"].as_str().unwrap());
        assert_eq!((row.get(2).unwrap(), row.get(5).unwrap()), paths);
        assert_eq!(row.get(3).unwrap(), file["size"].to_string());
    }
}

#[actix_web::test]
async fn csv_is_loaded_again_and_has_no_formulas() {
    let names = ["=1+1.txt", "a,b \"c\".txt", "d\ne.txt"].map(str::to_owned);
    let (fixture, app) = serve_names(names.into_iter(), "premium").await;
    let (_, _, body) = app.download("", CSV).await;
    let expected = "bucket,type,fullPath,size,lastModified,url\r\n\
        a.s3.amazonaws.com,aws,'=1+1.txt,1,1970-01-01T00:00:01Z,http://a.s3.amazonaws.com/%3D1%2B1.txt\r\n\
        a.s3.amazonaws.com,aws,\"a,b \"\"c\"\".txt\",1,1970-01-01T00:00:01Z,http://a.s3.amazonaws.com/a%2Cb%20%22c%22.txt\r\n\
        a.s3.amazonaws.com,aws,\"d\ne.txt\",1,1970-01-01T00:00:01Z,http://a.s3.amazonaws.com/d%0Ae.txt\r\n";
    assert_eq!(body, expected);
    let path = fixture.folder.write("again.csv", &body);
    let report = fixture.load(&[path]).unwrap();
    assert_eq!((report.tally.bad, report.counts.unchanged), (0, 3));
}

#[actix_web::test]
async fn downloads_end_at_the_limit_of_the_package() {
    let fixture = Fixture::with_samples();
    let set = |files| {
        let write = |db: &mut Db| -> Result<(), DatabaseError> {
            let mut package = buckets::store::packages::of_plan(db, "premium")?;
            package.download_files = files;
            buckets::store::packages::put(db, &package)
        };
        fixture.context.pools.write_blocking(write).unwrap();
    };
    set(7);
    let app = fixture.serve("premium").await;
    for (query, files) in [("", 7), ("limit=3", 3), ("limit=50", 7), ("start=100&limit=50", 5)] {
        let (_, headers, body) = app.download(query, NDJSON).await;
        assert_eq!(
            (body.lines().count(), header(&headers, "x-results")),
            (files, "105".to_owned())
        );
        assert_eq!(header(&headers, "x-files"), files.to_string());
    }
    set(0);
    app.refresh();
    let (status, _, body) = app.download("", CSV).await;
    let expected = "{\"error\":\"Accept requires the package free\",\"code\":\"package_required\",\
        \"parameter\":\"Accept\",\"package\":\"free\"}";
    assert_eq!((status, body.as_str()), (403, expected));
    assert_eq!(app.get("/api/v2/files").await.0, 200);
}

#[actix_web::test]
async fn downloads_end_at_the_depth_of_the_package_over_http() {
    let (_fixture, app) = serve_names((0..2_500).map(|n| format!("{n}.txt")), "free").await;
    let (_, headers, body) = app.download("start=1000", NDJSON).await;
    assert_eq!((body.lines().count(), header(&headers, "x-results")), (1_000, "2500".to_owned()));
    let (status, _, body) = app.download("order=size", NDJSON).await;
    assert_eq!(status, 403, "{body}");
}

#[actix_web::test]
async fn errors_of_downloads_are_json() {
    let app = Fixture::with_samples().serve("enterprise").await;
    for (query, parameter) in [
        ("paging-mode=scrolling", "paging-mode"),
        ("keywords=(&regexp=1&noautocorrect=1", "keywords"),
    ] {
        let (status, headers, body) = app.download(query, CSV).await;
        assert_eq!(
            (status, header(&headers, "content-type").as_str()),
            (400, "application/json; charset=utf-8")
        );
        assert!(body.contains(&format!("\"parameter\":\"{parameter}\"")), "{body}");
    }
}

/// Generates names of such length that a download does not fit into the buffers of a connection.
fn long_names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("{}{number:06}.txt", "x".repeat(900)))
}

#[actix_web::test]
async fn download_has_one_state_while_others_are_published() {
    let (fixture, app) = serve_names(long_names(8_000), "premium").await;
    let response = app.begin("", NDJSON).await;
    // The whole bucket is replaced, and the server shows the new files.
    let path = fixture.folder.write("next.ndjson", line(A, "new.txt", 1, 1));
    let options = buckets::jobs::LoadOptions { removal_limit: None, ..Fixture::options(&[path]) };
    fixture.run(&options).unwrap();
    app.refresh();
    assert_eq!(app.paths("").await, ["new.txt"]);
    let body = response.text().await.unwrap();
    let names: Vec<String> = body
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["filename"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, long_names(8_000).collect::<Vec<_>>());
}

#[actix_web::test]
async fn removed_files_are_left_out_of_running_downloads() {
    let fixture = Fixture::new();
    let mut lines: Vec<String> = long_names(8_000).map(|name| line(A, &name, 1, 1)).collect();
    lines.push(line(B, "secret.txt", 1, 1));
    lines.push(line(A, "last.txt", 1, 1));
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let app = fixture.serve("premium").await;
    let response = app.begin("", NDJSON).await;
    buckets::jobs::remove(&fixture.context, B, "", "", "test").unwrap();
    app.refresh();
    let body = response.text().await.unwrap();
    assert_eq!((body.lines().count(), body.contains("secret.txt")), (8_001, false));
    assert!(body.lines().last().unwrap().contains("last.txt"));
}

#[actix_web::test]
async fn files_removed_after_a_rebuild_are_left_out_of_running_downloads() {
    let fixture = Fixture::new();
    let mut lines: Vec<String> = long_names(8_000).map(|name| line(A, &name, 1, 1)).collect();
    lines.push(line(B, "secret.txt", 1, 1));
    lines.push(line(A, "private/secret.txt", 1, 1));
    lines.push(line(A, "last.txt", 1, 1));
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let app = fixture.serve("premium").await;
    let response = app.begin("", NDJSON).await;
    buckets::jobs::rebuild(&fixture.context).unwrap();
    // The commands wait for the download, which is the last reader of the old generation.
    let removing = [(B, ""), (A, "private/")].map(|(address, prefix)| {
        let context = fixture.context.clone();
        let remove = move || buckets::jobs::remove(&context, address, prefix, "", "test");
        std::thread::spawn(remove)
    });
    let completed = |db: &mut Db| -> Result<i64, DatabaseError> {
        let number = sql::<BigInt>("(SELECT count(*) FROM removal WHERE applied_at IS NOT NULL)");
        Ok(diesel::select(number).get_result(db)?)
    };
    testkit::until_blocking("the removals are completed", || {
        fixture.context.pools.read_blocking(completed).unwrap() == 2
    });
    app.refresh();
    let body = response.text().await.unwrap();
    assert_eq!((body.lines().count(), body.contains("secret")), (8_001, false));
    assert!(body.lines().last().unwrap().contains("last.txt"));
    for removing in removing {
        removing.join().unwrap().unwrap();
    }
}

#[actix_web::test]
async fn downloads_of_clients_that_leave_end() {
    let (_fixture, app) = serve_names(long_names(8_000), "premium").await;
    let response = app.begin("", NDJSON).await;
    assert_eq!(app.state.downloads().lock().values().sum::<usize>(), 1);
    drop(response);
    testkit::until("the download has ended", async || app.state.downloads().lock().is_empty())
        .await;
}

#[actix_web::test]
async fn account_runs_half_of_all_downloads() {
    let fixture = Fixture::new();
    let lines: Vec<String> = long_names(8_000).map(|name| line(A, &name, 1, 1)).collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let settings = Settings { downloads_running: 3, ..Settings::for_tests() };
    let mut app = fixture.serve_with("premium", settings).await;
    let held = [app.begin("", NDJSON).await, app.begin("", NDJSON).await];
    assert!(held.iter().all(|response| response.status() == 200));
    let (status, headers, body) = app.download("", NDJSON).await;
    let expected = "{\"error\":\"too many downloads at once: try again\",\"code\":\"search_busy\"}";
    assert_eq!((status, header(&headers, "retry-after").as_str()), (503, "1"));
    assert_eq!(body, expected);
    app.key = fixture.key("another", "premium");
    let other = app.begin("", NDJSON).await;
    assert_eq!(other.status(), 200);
    app.key = fixture.key("third", "premium");
    assert_eq!(app.download("", NDJSON).await.0, 503, "all slots are in use");
    drop((held, other));
    // A rejected download costs a token of the rate limit, so the test does not retry until one
    // begins.
    testkit::until("the downloads have ended", async || app.state.downloads().lock().is_empty())
        .await;
    app.key = fixture.key("fourth", "premium");
    assert_eq!(app.download("limit=1", NDJSON).await.0, 200);
}

#[rstest]
#[case(CSV, "csv")]
#[case(NDJSON, "ndjson")]
#[actix_web::test]
async fn downloads_load_with_the_same_paths(#[case] accept: &str, #[case] extension: &str) {
    let names =
        ["=1+1", "'=1+1", "'a", "''", "+b c#d%41", "@x/\u{e9}", "\u{ff1d}2", "-\r\n,\"", "a"];
    let (_fixture, app) = serve_names(names.into_iter().map(str::to_owned), "premium").await;
    let (_, _, body) = app.download("", accept).await;
    let copy = Fixture::new();
    copy.load(&[copy.folder.write(format!("files.{extension}"), body)]).unwrap();
    let copied = copy.serve("premium").await;
    assert_eq!(copied.paths("").await, names);
}

#[actix_web::test]
async fn old_clients_get_a_download_without_chunks() {
    let (_fixture, app) = serve_names((0..3).map(|n| format!("{n}.txt")), "premium").await;
    for (version, connection) in [("HTTP/1.0", "keep-alive"), ("HTTP/1.1", "close")] {
        let request = format!(
            "GET /api/v2/files {version}\r\nHost: a\r\nAccept: {CSV}\r\nConnection: {connection}\r\n\
             Authorization: Bearer {}\r\n\r\n",
            app.key
        );
        let answer = app.server.raw(request).await;
        let is_old = version == "HTTP/1.0";
        assert_eq!(answer.header("transfer-encoding").is_none(), is_old, "{}", answer.head);
        let body = answer.text();
        assert_eq!(body.starts_with("bucket,type,fullPath"), is_old, "{body}");
        assert_eq!(body.lines().count() == 4, is_old, "{body}");
    }
}
