use std::io::Write;
use std::process::Stdio;

use crate::app::Fixture;
use crate::program::Program;

#[actix_web::test]
async fn all_metrics_are_exported() {
    let app = Fixture::with_samples().serve("premium").await;
    assert_eq!(app.get("/api/v2/files?keywords=backup").await.0, 200);
    for query in ["", "keywords=a-b", "keywords=-a", "keywords=a&regexp=1", "keywords=_"] {
        assert_eq!(app.get(&format!("/api/v2/files?{query}")).await.0, 200);
    }
    assert_eq!(app.get("/api/v2/files/facets").await.0, 200);
    assert_eq!(app.get("/api/v2/buckets").await.0, 200);
    app.refresh();
    let url = app.server.admin_url("/metrics");
    let text = app.server.client().get(url).send().await.unwrap().text().await.unwrap();
    for name in [
        "buckets_search_results_count{operation=\"searchFiles\"} ",
        "buckets_search_results_count{operation=\"getFacets\"} ",
        "buckets_search_results_count{operation=\"listBuckets\"} ",
        "buckets_regexp_running ",
        "buckets_regexp_waiting ",
        "buckets_index_generation ",
        "buckets_index_files ",
        "buckets_index_buckets ",
        "buckets_index_bytes ",
        "buckets_index_dead_rows ",
        "buckets_load_files_per_second ",
        "buckets_last_publish_timestamp_seconds ",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} in {text}");
    }
    // Other tests count in the same process.
    let at_least = |series: &str, least: u64| {
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok());
        assert!(value.is_some_and(|value: u64| value >= least), "{series}: {value:?} in {text}");
    };
    let searches = |engine: &str, kind: &str, least: u64| {
        at_least(&format!(r#"buckets_searches_total{{engine="{engine}",kind="{kind}"}}"#), least);
    };
    for (kind, least) in [("all", 2), ("words", 2), ("phrase", 1), ("expression", 1)] {
        searches("embedded", kind, least);
        searches("cluster", kind, 0);
    }
    // The total is known when everything is searched for the second time.
    at_least(r#"buckets_search_known_totals_total{engine="embedded"}"#, 1);
    at_least(r#"buckets_search_known_totals_total{engine="cluster"}"#, 0);
    for route in ["/api/v2/files", "/api/v2/buckets"] {
        let of_route = |line: &&str| line.contains(&format!("route=\"{route}\""));
        let lines: Vec<&str> = text.lines().filter(of_route).collect();
        assert!(lines.iter().any(|line| line.contains("status=\"200\"")), "{route} in {text}");
        assert!(lines.iter().any(|line| line.contains("_bucket{")), "{route} in {text}");
    }
}

#[actix_web::test]
async fn server_reports_crawls_by_state_and_the_longest_delay() {
    let program = Program::new();
    let serving = program.served(&[]);
    let crawls = async |state: &str| {
        let name = format!("buckets_crawls{{state=\"{state}\"}}");
        serving.metric(&name).await
    };
    assert_eq!((crawls("active").await, crawls("paused").await), (0.0, 0.0));
    assert_eq!(serving.metric("buckets_crawl_overdue_seconds").await, 0.0);
    for bucket in ["one", "two", "three"] {
        program.done(&["crawl", "add", &format!("https://{bucket}.s3.amazonaws.com/")]);
    }
    program.done(&["crawl", "pause", "2"]);
    testkit::until("the crawls are counted", async || {
        (crawls("active").await, crawls("paused").await) == (2.0, 1.0)
    })
    .await;
    testkit::until("a crawl without a run is late", async || {
        serving.metric("buckets_crawl_overdue_seconds").await > 0.0
    })
    .await;
}

#[actix_web::test]
async fn server_reports_rate_of_running_load() {
    let program = Program::new();
    let serving = program.served(&[]);
    let rate = async || serving.metric("buckets_load_files_per_second").await;
    assert_eq!(rate().await, 0.0);
    let mut command = program.command(&["load", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut load = command.spawn().unwrap();
    let mut source = load.stdin.take().unwrap();
    let mut files = 0;
    let seen = loop {
        for _ in 0..500 {
            files += 1;
            writeln!(source, r#"{{"bucket":"a.s3.amazonaws.com","fullPath":"{files}","size":1}}"#)
                .unwrap();
        }
        assert!(files < 5_000_000, "no rate is seen");
        let rate = rate().await;
        if rate > 0.0 {
            break rate;
        }
    };
    assert!(seen.is_finite());
    assert_eq!(serving.metric("buckets_index_files").await, 0.0, "nothing is published yet");
    drop(source);
    assert!(load.wait().unwrap().success());
    testkit::until("the files are published and the load has no rate", async || {
        let published = serving.metric("buckets_index_files").await;
        published == f64::from(files) && rate().await == 0.0
    })
    .await;
    assert!(serving.metric("buckets_last_publish_timestamp_seconds").await > 0.0);
}
