//! What the operator watches: loads, failures and the corpora in use.

use std::sync::LazyLock;

use prometheus::{IntCounterVec, IntGaugeVec, Opts};

use crate::model::{Header, Kind};

struct Metrics {
    loads: IntCounterVec,
    failures: IntCounterVec,
    entries: IntGaugeVec,
    built: IntGaugeVec,
}

static METRICS: LazyLock<Option<Metrics>> = LazyLock::new(|| Metrics::register().ok());

impl Metrics {
    fn register() -> prometheus::Result<Self> {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let counter = IntCounterVec::new(Opts::new(name, help), labels)?;
            shell::metrics::registry().register(Box::new(counter.clone()))?;
            prometheus::Result::Ok(counter)
        };
        let gauge = |name: &str, help: &str| {
            let gauge = IntGaugeVec::new(Opts::new(name, help), &["kind"])?;
            shell::metrics::registry().register(Box::new(gauge.clone()))?;
            prometheus::Result::Ok(gauge)
        };
        Ok(Self {
            loads: counter(
                "passwords_corpus_loads_total",
                "Corpora loaded or refused",
                &["kind", "result"],
            )?,
            failures: counter(
                "passwords_bucket_failures_total",
                "Buckets that could not be served",
                &["kind"],
            )?,
            entries: gauge("passwords_corpus_entries", "Digests in the corpus in use")?,
            built: gauge("passwords_corpus_built_seconds", "Build time of the corpus in use")?,
        })
    }
}

/// Counts a corpus that was `loaded` or `refused`.
pub fn count_load(kind: Kind, result: &str) {
    if let Some(metrics) = &*METRICS {
        metrics.loads.with_label_values(&[kind.name(), result]).inc();
    }
}

/// Counts a bucket that could not be served.
pub fn count_failure(kind: Kind) {
    if let Some(metrics) = &*METRICS {
        metrics.failures.with_label_values(&[kind.name()]).inc();
    }
}

/// Shows the corpus that is in use from now on.
pub fn describe_corpus(header: &Header) {
    if let Some(metrics) = &*METRICS {
        let entries = i64::try_from(header.entries).unwrap_or(i64::MAX);
        metrics.entries.with_label_values(&[header.kind.name()]).set(entries);
        metrics.built.with_label_values(&[header.kind.name()]).set(header.built_at);
    }
}
