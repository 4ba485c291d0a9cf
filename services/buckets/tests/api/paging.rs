//! Paging while rows are being removed.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use buckets::Settings;
use buckets::engine::{
    EmbeddedIndex, EngineError, FileIndex, FileList, FileWriter, IndexSummary, Limits, Mode,
    NamedBucket, NewFile, each_row,
};
use buckets::jobs;
use buckets::model::{Attributes, Facets, FileQuery, Found};
use rstest::rstest;

use crate::app::{Fixture, line};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

/// An index that returns pages of ten rows, regardless of the limit.
struct Short<'a>(&'a dyn FileIndex);

impl FileIndex for Short<'_> {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        self.0.search(&FileQuery { limit: 10, ..query.clone() }, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        self.0.list(query, limits)
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        self.0.facets(query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        self.0.summary()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        self.0.refresh()
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        self.0.verify()
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        self.0.writer(memory_mb)
    }
}

/// Reads an index of two buckets completely while the first bucket is being removed.
pub fn removed_while_read(index: &dyn FileIndex, writer_of: &dyn FileIndex) {
    let mut writer = index.writer(64).unwrap();
    writer.begin(1).unwrap();
    let file = |n: u64| NewFile {
        bucket: 1 + n / 50,
        kind: 0,
        path: format!("{n:03}.txt"),
        attributes: Attributes::from_fn(|_| 1),
        is_changed: false,
    };
    writer.add(&(0..100).map(file).collect::<Vec<_>>()).unwrap();
    let named = |id| NamedBucket { id, truncated: false, partial: false };
    writer.publish(Mode::Replace, vec![named(1), named(2)], 1).unwrap();
    drop(writer);
    assert!(index.refresh().unwrap());

    let limits = Limits::until(Instant::now() + Duration::from_secs(60), 1);
    let (mut first, mut second) = (0, 0);
    let read = each_row(&Short(index), None, &limits, |row| -> Result<(), EngineError> {
        if first == 0 {
            writer_of.refresh()?;
            writer_of.writer(64)?.remove(1, 1, None, None)?;
        }
        if row.bucket == 1 {
            first += 1
        } else {
            second += 1
        }
        Ok(())
    });
    read.unwrap();
    assert_eq!((first, second), (10, 50), "the page in memory, and every row of the other bucket");
}

#[test]
fn all_rows_are_read_during_removal() {
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
    let other = EmbeddedIndex::open(folder.path()).unwrap();
    removed_while_read(&index, &other);
}

#[rstest]
#[case("")]
#[case("&order=size&direction=desc")]
#[case("&keywords=txt")]
#[case("&keywords=t&regexp=1")]
#[actix_web::test]
async fn scroll_completes_during_removal(#[case] query: &str) {
    let fixture = Fixture::new();
    let lines: Vec<String> = (0..60)
        .map(|n| line(if n < 30 { A } else { B }, &format!("{n}.txt"), 100 - n, 1))
        .collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    // The server does not refresh, so its totals include the removed files.
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let app = fixture.serve_with("enterprise", settings).await;
    let (mut of_b, mut id) = (0, String::new());
    for page in 0..10 {
        let path = format!("/api/v2/files?paging-mode=scrolling&limit=10{query}&scroll-id={id}");
        let (status, body) = app.get(&path).await;
        assert_eq!(status, 200, "{body}");
        let files = body["files"].as_array().unwrap();
        of_b += files.iter().filter(|file| file["bucket"] == B).count();
        if page == 0 {
            assert_eq!(files.len(), 10);
            jobs::remove(&fixture.context, A, "", "asked by the owner", "tester").unwrap();
        }
        let Some(next) = body["meta"]["nextScrollId"].as_str() else { break };
        id = next.to_owned();
    }
    assert_eq!(of_b, 30);
}

#[actix_web::test]
async fn deep_page_waits_for_memory_and_first_page_does_not() {
    let fixture = Fixture::new();
    let lines: Vec<String> = (0..5_000).map(|n| line(A, &n.to_string(), n, 1)).collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let app = fixture.serve("premium").await;
    let held = app.state.keys().acquire(usize::MAX).await;
    let mut deep = pin!(app.paths("order=size&direction=desc&start=4990&limit=10"));
    let finished = tokio::time::timeout(Duration::from_millis(200), &mut deep).await;
    assert!(finished.is_err(), "it waits for the memory");
    assert_eq!(app.paths("order=size&limit=2").await, ["0", "1"]);
    drop(held);
    let expected: Vec<String> = (0..10).rev().map(|n| n.to_string()).collect();
    assert_eq!(deep.await, expected);
}
