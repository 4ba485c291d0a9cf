//! What the service measures beside what the shell measures.

use std::sync::LazyLock;

use prometheus::{Histogram, HistogramOpts, IntGauge};

use crate::catalog::Catalog;

/// Regular-expression searches that run.
pub static REGEXP_RUNNING: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_regexp_running", "Regular-expression searches that run"));
/// Regular-expression searches that wait.
pub static REGEXP_WAITING: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_regexp_waiting", "Regular-expression searches that wait"));
static GENERATION: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_generation", "Generation of the index"));
static FILES: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_files", "Files in the index"));
static BUCKETS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_buckets", "Buckets in the index"));
static BYTES: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_index_bytes", "Bytes of the index on disk"));
static PUBLISHED: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("buckets_last_publish_seconds", "Unix time of the last publish"));
static RESULTS: LazyLock<Histogram> = LazyLock::new(|| {
    let buckets = (0..9).map(|power| 10_f64.powi(power)).collect();
    let options = HistogramOpts::new("buckets_search_results", "Results of file searches");
    registered(Histogram::with_opts(options.buckets(buckets)))
});

fn gauge(name: &str, help: &str) -> IntGauge {
    registered(IntGauge::new(name, help))
}

#[expect(clippy::expect_used, reason = "names are constants that tests exercise")]
fn registered<C: prometheus::core::Collector + Clone + 'static>(
    collector: prometheus::Result<C>,
) -> C {
    let collector = collector.expect("metric options are valid");
    web::metrics::registry().register(Box::new(collector.clone())).expect("names are unique");
    collector
}

/// Notes the results of a search.
pub fn searched(results: u64) {
    RESULTS.observe(results as f64);
}

/// Notes a state of the index.
pub fn published(catalog: &Catalog) {
    LazyLock::force(&REGEXP_RUNNING);
    LazyLock::force(&REGEXP_WAITING);
    let counts = catalog.counts(None);
    let set = |gauge: &IntGauge, value: u64| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    set(&GENERATION, u64::from(catalog.generation));
    set(&FILES, counts.files);
    set(&BUCKETS, counts.buckets.iter().sum());
    set(&BYTES, catalog.snapshot.disk_bytes);
    PUBLISHED.set(catalog.snapshot.journal.published.as_ref().map_or(0, |publish| publish.at));
}
