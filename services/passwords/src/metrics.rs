//! Metrics for loads, failures and the corpora in use.

use std::sync::LazyLock;

use prometheus::{IntCounterVec, IntGaugeVec, Opts};
use shell::metrics::register;

use crate::model::{Header, Kind};

static LOADS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let options = Opts::new("passwords_corpus_loads_total", "Attempts to load a corpus by result");
    register(IntCounterVec::new(options, &["kind", "result"]))
});
static FAILURES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Buckets that could not be served";
    let options = Opts::new("passwords_bucket_failures_total", help);
    register(IntCounterVec::new(options, &["kind"]))
});
static ENTRIES: LazyLock<IntGaugeVec> =
    LazyLock::new(|| gauge("passwords_corpus_entries", "Number of hashes in the active corpus"));
static BUILT: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    gauge("passwords_corpus_built_timestamp_seconds", "Unix time when the active corpus was built")
});

fn gauge(name: &str, help: &str) -> IntGaugeVec {
    register(IntGaugeVec::new(Opts::new(name, help), &["kind"]))
}

/// Initializes the counters to 0, because an alert on increases would otherwise miss the first
/// event.
pub fn show() {
    for kind in Kind::ALL {
        for result in ["loaded", "refused"] {
            LOADS.with_label_values(&[kind.name(), result]);
        }
        FAILURES.with_label_values(&[kind.name()]);
    }
}

/// Counts an attempt to load a corpus. The result is `loaded` or `refused`.
pub fn count_load(kind: Kind, result: &str) {
    LOADS.with_label_values(&[kind.name(), result]).inc();
}

/// Counts a bucket that could not be served.
pub fn count_failure(kind: Kind) {
    FAILURES.with_label_values(&[kind.name()]).inc();
}

/// Publishes the metrics for the corpus that is now in use.
pub fn describe_corpus(header: &Header) {
    let entries = i64::try_from(header.entries).unwrap_or(i64::MAX);
    ENTRIES.with_label_values(&[header.kind.name()]).set(entries);
    BUILT.with_label_values(&[header.kind.name()]).set(header.built_at);
}
