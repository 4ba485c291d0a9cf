//! Tests of the service: HTTP operations, commands, engines.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test that cannot continue panics.

mod account;
mod alert_changes;
mod alert_delays;
mod alerts;
mod app;
mod audit;
mod backup;
mod bad_lines;
mod base_path;
mod buckets;
mod caching;
mod cluster;
mod conformance;
mod crash;
mod crawl_api;
mod crawl_pauses;
mod crawls;
mod downloads;
mod errors;
mod etags;
mod expressions;
mod facets;
mod failing_index;
mod failures;
mod files;
mod formats;
mod hidden_files;
mod hostile;
mod incomplete;
mod inventories;
mod key_crawls;
mod listing_pages;
mod load;
mod log;
mod made_expressions;
mod metrics;
mod missing_index;
mod naive_model;
mod overlaps;
mod page;
mod paging;
mod pairing;
mod private_files;
mod program;
mod public_bucket;
mod rebuild;
mod remote;
mod removal_limit;
mod removals;
mod scroll;
mod settings;
mod stats;
mod stop;
mod stopped_runs;
mod trade_formats;

#[test]
fn openapi_document_matches_code() {
    testkit::assert_openapi_matches::<::buckets::Buckets>("openapi.json");
}
