//! Files that servers hide until their removals are carried out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buckets::engine::Generations;
use buckets::{Settings, jobs};
use rstest::rstest;
use testkit::{until, until_blocking};

use crate::app::{Fixture, line};
use crate::failing_index::FailingSearches;
use crate::removals::{A, B, execute};

/// Makes servers look for changes.
const TOUCH: &str = "UPDATE index_state SET version = version + 1";

/// SQL for a removal that is requested but not carried out.
fn request(prefix: &str) -> String {
    format!(
        "INSERT INTO removal (address, prefix, reason, operator, requested_at) \
         VALUES ('{A}', '{prefix}', 'asked', 'tester', 1); {TOUCH}"
    )
}

#[rstest]
#[case::bucket("", &["other.pdf"])]
#[case::prefix("private/", &["public.txt", "other.pdf"])]
#[actix_web::test]
async fn files_are_hidden_although_the_index_cannot_be_refreshed(
    #[case] prefix: &str,
    #[case] left: &[&str],
) {
    let fixture = Fixture::new();
    let lines = [line(A, "private/secret.txt", 1, 1), line(A, "public.txt", 1, 1)];
    fixture.load_lines(&[&lines[0], &lines[1], &line(B, "other.pdf", 1, 1)]);
    let mut served = fixture.clone();
    served.context.generations = FailingSearches::refresh(&fixture.context.generations, 1);
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let app = served.serve_with("free", settings).await;
    execute(&fixture, &request(prefix));
    assert!(buckets::refresh(&app.state).is_err());
    assert_eq!(app.paths("").await, left);
    app.refresh();
    assert_eq!(app.paths("").await, left);
}

#[actix_web::test]
async fn hidden_files_stay_hidden_when_their_removal_ends_during_a_refresh() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "secret.txt", 1, 1), &line(B, "other.pdf", 1, 1)]);
    // The server has read the index, but not the removals, when the removal ends.
    let context = fixture.context.clone();
    let removing = move || drop(jobs::remove(&context, A, "", "asked", "tester").unwrap());
    let mut served = fixture.clone();
    served.context.generations =
        FailingSearches::after_refresh(&fixture.context.generations, 2, removing);
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let app = served.serve_with("free", settings).await;
    let is_hidden = async || {
        let facets = app.get("/api/v2/files/facets").await.1;
        (app.results("").await, facets["buckets"].as_array().unwrap().len()) == (1, 1)
    };
    execute(&fixture, &request(""));
    app.refresh();
    assert!(is_hidden().await, "while the removal waits");
    execute(&fixture, TOUCH);
    app.refresh();
    assert!(is_hidden().await, "after the removal has ended");
    app.refresh();
    assert!(is_hidden().await, "after the server has read the index again");
}

#[actix_web::test]
async fn files_are_hidden_while_files_of_another_removal_are_counted() {
    let fixture = Fixture::new();
    let lines = [line(A, "private/secret.txt", 1, 1), line(A, "public.txt", 1, 1)];
    fixture.load_lines(&[&lines[0], &lines[1], &line(B, "other.pdf", 1, 1)]);
    // Neither removal is carried out.
    let _writing = fixture.context.generations.lock("a test").unwrap();
    let [counting, is_hidden] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let (begun, ended) = (Arc::clone(&counting), Arc::clone(&is_hidden));
    let count = move || {
        begun.store(true, Ordering::Relaxed);
        until_blocking("the other files are hidden", || ended.load(Ordering::Relaxed));
    };
    let mut served = fixture.clone();
    served.context.generations = FailingSearches::during(&fixture.context.generations, 1, count);
    let app = served.serve("free").await;
    execute(&fixture, &request("private/"));
    until("files are counted", async || counting.load(Ordering::Relaxed)).await;
    execute(&fixture, &request("").replace(A, B));
    let is_seen = async || !app.state.snapshot().takedowns.buckets.is_empty();
    until("the second removal is seen", is_seen).await;
    assert_eq!(app.paths("").await, ["public.txt"]);
    is_hidden.store(true, Ordering::Relaxed);
}

/// Otherwise, files would never be counted if publishes come faster than counts finish.
#[actix_web::test]
async fn counted_files_are_shown_although_the_index_has_changed() {
    let fixture = Fixture::new();
    let lines = [line(A, "private/secret.txt", 1, 1), line(A, "public.txt", 1, 1)];
    fixture.load_lines(&[&lines[0], &lines[1]]);
    // The removal is not carried out.
    let _writing = fixture.context.generations.lock("a test").unwrap();
    let [counting, is_newer, is_shown] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let (begun, first, second) =
        (Arc::clone(&counting), Arc::clone(&is_newer), Arc::clone(&is_shown));
    let count = move || {
        begun.store(true, Ordering::Relaxed);
        until_blocking("the index has changed", || first.load(Ordering::Relaxed));
    };
    let count_again =
        move || until_blocking("the count is shown", || second.load(Ordering::Relaxed));
    // Each count searches twice.
    let again: Arc<dyn Generations> =
        FailingSearches::during(&fixture.context.generations, 3, count_again);
    let mut served = fixture.clone();
    served.context.generations = FailingSearches::during(&again, 1, count);
    let app = served.serve("free").await;
    execute(&fixture, &request("private/"));
    until("files are counted", async || counting.load(Ordering::Relaxed)).await;
    let number = app.state.snapshot().number;
    execute(&fixture, TOUCH);
    until("a change is seen", async || app.state.snapshot().number > number).await;
    is_newer.store(true, Ordering::Relaxed);
    let hidden = || app.state.snapshot().hidden.values().copied().collect::<Vec<u64>>();
    until("the first count is shown", async || hidden() == [1]).await;
    is_shown.store(true, Ordering::Relaxed);
}
