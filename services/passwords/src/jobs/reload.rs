//! Exchanges corpora while the service runs.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use prometheus::{IntCounterVec, IntGaugeVec, Opts};
use tokio::signal::unix::{SignalKind, signal};

use crate::model::Kind;
use crate::store::folder::Signature;
use crate::store::{Corpus, CorpusError, KindFolder};

struct Metrics {
    reloads: IntCounterVec,
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
            reloads: counter(
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

/// Counts a bucket that could not be served.
pub fn count_failure(kind: Kind) {
    if let Some(metrics) = &*METRICS {
        metrics.failures.with_label_values(&[kind.name()]).inc();
    }
}

/// Looks for corpora that were activated.
pub struct Reloader {
    folders: Vec<KindFolder>,
    memory_limit: u64,
    seen: Mutex<Vec<Option<Signature>>>,
}

impl Reloader {
    /// A reloader for these folders; corpora up to `memory_limit` bytes are held in memory.
    pub fn new(folders: Vec<KindFolder>, memory_limit: u64) -> Self {
        let seen = Mutex::new(vec![None; folders.len()]);
        Self { folders, memory_limit, seen }
    }

    /// Loads what `CURRENT` names if that has changed, or in any case.
    ///
    /// A corpus that cannot be used is logged and counted; the old one goes on.
    pub fn look(&self, all: bool, mut serve: impl FnMut(Corpus)) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (folder, seen) in self.folders.iter().zip(seen.iter_mut()) {
            let signature = folder.signature();
            if !all && seen.as_ref() == Some(&signature) {
                continue;
            }
            *seen = Some(signature);
            let kind = folder.kind();
            let result = match self.load(folder) {
                Ok(Some(corpus)) => {
                    announce(&corpus);
                    serve(corpus);
                    "loaded"
                }
                Ok(None) => {
                    log::warn!("no {} corpus in {}", kind.label(), folder.path().display());
                    continue;
                }
                Err(error) => {
                    log::error!("the {} corpus is not loaded: {error:#}", kind.label());
                    "refused"
                }
            };
            if let Some(metrics) = &*METRICS {
                metrics.reloads.with_label_values(&[kind.name(), result]).inc();
            }
        }
    }

    fn load(&self, folder: &KindFolder) -> anyhow::Result<Option<Corpus>> {
        let Some(path) = folder.current()? else { return Ok(None) };
        let corpus = Corpus::open(&path, self.memory_limit)?;
        if corpus.kind() != folder.kind() {
            return Err(CorpusError::Kind { path, found: corpus.kind() }.into());
        }
        corpus.spot_check()?;
        Ok(Some(corpus))
    }
}

fn announce(corpus: &Corpus) {
    let (kind, header) = (corpus.kind(), corpus.header());
    log::info!("{} corpus: {} digests, {}", kind.label(), header.entries, corpus.path().display());
    if let Some(metrics) = &*METRICS {
        let entries = i64::try_from(header.entries).unwrap_or(i64::MAX);
        metrics.entries.with_label_values(&[kind.name()]).set(entries);
        metrics.built.with_label_values(&[kind.name()]).set(header.built_at);
    }
}

/// Calls `reload(true)` on SIGHUP and `reload(false)` every `interval` seconds, off the workers.
pub async fn watch(interval: u64, reload: impl Fn(bool) + Clone + Send + 'static) {
    let Ok(mut hangup) = signal(SignalKind::hangup()) else {
        log::error!("SIGHUP cannot be awaited; corpora are not reloaded");
        return;
    };
    // Without an interval the timer is still polled, but far in the future.
    let period = if interval == 0 { u64::from(u32::MAX) } else { interval };
    let period = Duration::from_secs(period);
    loop {
        let all = match tokio::time::timeout(period, hangup.recv()).await {
            Ok(Some(())) => true,
            Ok(None) => return,
            Err(_) => false,
        };
        let reload = reload.clone();
        if tokio::task::spawn_blocking(move || reload(all)).await.is_err() {
            log::error!("a reload panicked");
        }
    }
}
