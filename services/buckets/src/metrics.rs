//! Metrics specific to this service. The shell adds general metrics.

use std::sync::LazyLock;

use prometheus::{Gauge, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts};
use shell::metrics::register;

use crate::model::file_query::Matching;

/// Values of the `engine` label.
const ENGINES: [&str; 2] = ["embedded", "cluster"];

/// Regular expressions being searched.
pub static REGEXP_RUNNING: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_regexp_running", "Running regular-expression searches"));
/// Regular expressions waiting for a slot.
pub static REGEXP_WAITING: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_regexp_waiting", "Queued regular-expression searches"));
static GENERATION: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_generation", "Current generation of the index"));
static FILES: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_files", "Files in the index"));
static BUCKETS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_buckets", "Buckets in the index"));
static BYTES: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_bytes", "Size of the index on disk in bytes"));
static DEAD_ROWS: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Index rows of replaced and removed files, which a rebuild drops";
    gauge("buckets_index_dead_rows", help)
});
static PUBLISHED: LazyLock<IntGauge> = LazyLock::new(|| {
    gauge("buckets_last_publish_timestamp_seconds", "Unix time of the last publish")
});
static LOAD_RATE: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Files per second of the running load, or 0 if no load is running";
    register(Gauge::new("buckets_load_files_per_second", help))
});
static CRAWLS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Crawls by state. A running crawl is also counted as active or paused";
    register(IntGaugeVec::new(Opts::new("buckets_crawls", help), &["state"]))
});
static CRAWL_OVERDUE: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Seconds by which the most overdue crawl is late, or 0 if none is due";
    gauge("buckets_crawl_overdue_seconds", help)
});
static ALERT_MESSAGES: LazyLock<IntGauge> = LazyLock::new(|| {
    gauge("buckets_alert_messages_waiting", "Alert messages waiting for delivery")
});
static RESULTS: LazyLock<HistogramVec> = LazyLock::new(|| {
    let buckets = (0..9).map(|power| 10_f64.powi(power)).collect();
    let options = HistogramOpts::new("buckets_search_results", "Number of results per search");
    register(HistogramVec::new(options.buckets(buckets), &["operation"]))
});

static SEARCHES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "File searches by engine and kind of condition";
    register(IntCounterVec::new(Opts::new("buckets_searches_total", help), &["engine", "kind"]))
});
static KNOWN_TOTALS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "File searches whose total was cached or stored and did not have to be counted";
    register(IntCounterVec::new(Opts::new("buckets_search_known_totals_total", help), &["engine"]))
});

fn gauge(name: &str, help: &str) -> IntGauge {
    register(IntGauge::new(name, help))
}

/// Records a search's number of results.
pub fn searched(operation: &str, results: u64) {
    RESULTS.with_label_values(&[operation]).observe(results as f64);
}

/// Counts a file search when it starts.
pub fn began(engine: &str, matching: &Matching) {
    SEARCHES.with_label_values(&[engine, matching.kind()]).inc();
}

/// Counts a search whose total was known without counting its results.
pub fn knew_total(engine: &str) {
    KNOWN_TOTALS.with_label_values(&[engine]).inc();
}

/// Records the current load's speed, or 0 if there is no load.
pub fn loading(files_per_second: f64) {
    LOAD_RATE.set(files_per_second);
}

/// Records the number of crawls by state, and how long the most overdue crawl has been due.
pub fn crawling(active: i64, paused: i64, running: i64, overdue_seconds: i64) {
    CRAWLS.with_label_values(&["active"]).set(active);
    CRAWLS.with_label_values(&["paused"]).set(paused);
    CRAWLS.with_label_values(&["running"]).set(running);
    CRAWL_OVERDUE.set(overdue_seconds);
}

/// Records the number of undelivered alert messages.
pub fn alerting(waiting: i64) {
    ALERT_MESSAGES.set(waiting);
}

/// Metrics of a published snapshot.
#[derive(Clone, Copy, Debug)]
pub struct IndexFigures {
    /// Index generation.
    pub generation: u64,
    /// Visible files.
    pub files: u64,
    /// Listed buckets.
    pub buckets: u64,
    /// Size on disk, in bytes.
    pub bytes: u64,
    /// Rows left over from replaced and removed files.
    pub dead_rows: u64,
    /// Unix time of the last publish, or 0 if there hasn't been one.
    pub published_at: i64,
}

/// Records the metrics of a published snapshot.
pub fn published(figures: &IndexFigures) {
    LazyLock::force(&REGEXP_RUNNING);
    LazyLock::force(&REGEXP_WAITING);
    LazyLock::force(&LOAD_RATE);
    LazyLock::force(&CRAWL_OVERDUE);
    LazyLock::force(&ALERT_MESSAGES);
    for state in ["active", "paused", "running"] {
        CRAWLS.with_label_values(&[state]);
    }
    for engine in ENGINES {
        KNOWN_TOTALS.with_label_values(&[engine]);
        for kind in Matching::KINDS {
            SEARCHES.with_label_values(&[engine, kind]);
        }
    }
    let set = |gauge: &IntGauge, value: u64| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    set(&GENERATION, figures.generation);
    set(&FILES, figures.files);
    set(&BUCKETS, figures.buckets);
    set(&BYTES, figures.bytes);
    set(&DEAD_ROWS, figures.dead_rows);
    PUBLISHED.set(figures.published_at);
}
