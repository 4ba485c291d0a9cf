//! Exchanges corpora while the service runs.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::metrics;
use crate::state::State;
use crate::store::{Corpus, CorpusError, KindFolder, Signature};

/// Looks for corpora that were activated and puts them in place.
pub struct Reloader {
    state: Arc<State>,
    folders: Vec<KindFolder>,
    memory_limit: u64,
    seen: Mutex<Vec<Option<Signature>>>,
}

impl Reloader {
    /// A reloader for the folders of all kinds that the settings name.
    pub fn new(state: Arc<State>, data_dir: &Path) -> Self {
        let settings = state.settings();
        let folders: Vec<_> =
            settings.kinds.iter().map(|kind| KindFolder::new(data_dir, *kind)).collect();
        let memory_limit = settings.in_memory_limit_mb.saturating_mul(1 << 20);
        let seen = Mutex::new(vec![None; folders.len()]);
        Self { state, folders, memory_limit, seen }
    }

    /// Loads what `CURRENT` names if that has changed, or in any case.
    ///
    /// A corpus that cannot be used is logged and counted; the old one goes on.
    pub fn look(&self, all: bool) {
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
                    self.state.replace(corpus);
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
            metrics::count_load(kind, result);
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
    metrics::describe_corpus(header);
}

/// Looks at everything on SIGHUP and at what has changed every `interval` seconds, off the workers.
pub async fn watch(reloader: Arc<Reloader>, interval: u64) {
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
        let reloader = reloader.clone();
        if tokio::task::spawn_blocking(move || reloader.look(all)).await.is_err() {
            log::error!("a reload panicked");
        }
    }
}
