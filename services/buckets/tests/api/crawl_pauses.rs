//! Crawls that are paused while they are listing their bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use buckets::jobs::{CrawlRequest, add_crawls, pause_crawl};
use rstest::rstest;
use testkit::{HttpPeer, PeerAnswer};

use crate::app::Fixture;

/// Number of pages.
const PAGES: usize = 4;

/// Returns a page of a listing. It continues after a key.
fn page(target: &str) -> String {
    let after =
        target.split("start-after=").nth(1).or_else(|| target.split("continuation-token=").nth(1));
    let number = after.map_or(0, |key| key.chars().next().unwrap().to_digit(10).unwrap() + 1);
    let more = match number as usize + 1 < PAGES {
        true => {
            format!("true</IsTruncated><NextContinuationToken>{number}</NextContinuationToken>")
        }
        false => "false</IsTruncated>".to_owned(),
    };
    format!(
        "<ListBucketResult><Contents><Key>{number}</Key><Size>1</Size></Contents>\
         <IsTruncated>{more}</ListBucketResult>"
    )
}

/// Starts a server that pauses the crawl while it answers this request, counted from 1.
fn pausing_server(fixture: &Fixture, at: usize) -> HttpPeer {
    let (context, count) = (fixture.context.clone(), Arc::new(AtomicUsize::new(0)));
    HttpPeer::start(move |request| {
        if count.fetch_add(1, Ordering::Relaxed) + 1 == at {
            pause_crawl(&context, 1, true).unwrap();
        }
        PeerAnswer::Body(200, page(&request.target))
    })
}

fn add(fixture: &Fixture, server: &HttpPeer) {
    let request = CrawlRequest {
        url: server.url("/"),
        format: Some("s3".to_owned()),
        bucket: Some("box.s3.amazonaws.com".to_owned()),
        kind: Some("aws".to_owned()),
        every_seconds: 3_600,
        ..CrawlRequest::default()
    };
    assert_eq!(add_crawls(&fixture.context, vec![request]).unwrap(), [1]);
}

#[rstest]
#[case::due(None)]
#[case::by_id(Some(1))]
fn paused_listing_stops_after_its_page_and_continues_there(#[case] id: Option<i64>) {
    let fixture = Fixture::new();
    let server = pausing_server(&fixture, 2);
    add(&fixture, &server);
    let [stopped] = &fixture.crawl(id).unwrap()[..] else { panic!("it is due") };
    assert!(stopped.outcome.starts_with("it was paused; "), "{stopped:?}");
    assert_eq!((server.requests().len(), fixture.crawls()[0].pages), (2, 2));
    assert_eq!((fixture.stored_files(), fixture.crawl(None).unwrap().len()), (0, 0));

    pause_crawl(&fixture.context, 1, false).unwrap();
    let [done] = &fixture.crawl(None).unwrap()[..] else { panic!("it is due") };
    assert_eq!((done.new, done.complete), (PAGES as u64, true), "{done:?}");
    assert_eq!(server.requests().len(), PAGES, "the first pages were stored");
}

#[test]
fn crawl_that_was_paused_before_its_run_is_listed_to_the_end() {
    let fixture = Fixture::new();
    let server = pausing_server(&fixture, 2);
    add(&fixture, &server);
    pause_crawl(&fixture.context, 1, true).unwrap();
    let [done] = &fixture.crawl(Some(1)).unwrap()[..] else { panic!("it was requested") };
    assert_eq!((done.new, done.complete), (PAGES as u64, true), "{done:?}");
}

#[test]
fn listing_that_is_paused_at_its_last_page_is_published() {
    let fixture = Fixture::new();
    let server = pausing_server(&fixture, PAGES);
    add(&fixture, &server);
    let [done] = &fixture.crawl(None).unwrap()[..] else { panic!("it is due") };
    assert_eq!((done.new, done.complete), (PAGES as u64, true), "{done:?}");
}
