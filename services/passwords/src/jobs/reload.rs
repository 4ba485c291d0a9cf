//! Replaces corpora while the service is running.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use shell::{Hangups, Preview};

use crate::config::Settings;
use crate::metrics;
use crate::state::State;
use crate::store::{BucketProblem, Corpus, CorpusError, KindFolder, Signature};

/// Looks for newly activated corpora and loads them.
pub struct Reloader {
    state: Arc<State>,
    folders: Vec<KindFolder>,
    memory_limit: u64,
    seen: Mutex<Vec<Seen>>,
}

/// The result of the most recent check of a folder.
#[derive(Clone, Default)]
struct Seen {
    signature: Option<Signature>,
    /// Whether the corpus couldn't be read, in which case the next check tries again.
    unreadable: bool,
}

impl Reloader {
    /// Creates a reloader for the kinds in the settings.
    pub fn new(state: Arc<State>, data_dir: &Path) -> Self {
        let settings = state.settings();
        let folders: Vec<_> =
            settings.kinds.iter().map(|kind| KindFolder::new(data_dir, *kind)).collect();
        let memory_limit = settings.in_memory_limit_mb.saturating_mul(1 << 20);
        let seen = Mutex::new(vec![Seen::default(); folders.len()]);
        Self { state, folders, memory_limit, seen }
    }

    /// Loads the corpus that `CURRENT` points to if it has changed, or unconditionally if `all` is
    /// true.
    ///
    /// An invalid corpus is logged and counted, and the old one stays in use. A corpus that can't
    /// be read is logged and counted only once, and every later check tries again.
    pub fn look(&self, all: bool) {
        let mut seen = self.seen.lock();
        for (folder, seen) in self.folders.iter().zip(seen.iter_mut()) {
            let signature = folder.signature();
            let known = !all && seen.signature.as_ref() == Some(&signature);
            if known && !seen.unreadable {
                continue;
            }
            *seen = Seen { signature: Some(signature), unreadable: false };
            let kind = folder.kind();
            let result = match load(folder, self.memory_limit) {
                Ok(Some(corpus)) => {
                    announce(&corpus);
                    self.state.replace(corpus);
                    "loaded"
                }
                Ok(None) => {
                    self.state.set_unusable(kind, false);
                    log::warn!("no {} corpus in {}", kind.label(), folder.path().display());
                    continue;
                }
                Err(error) => {
                    self.state.set_unusable(kind, true);
                    seen.unreadable = is_unreadable(&error);
                    if known && seen.unreadable {
                        continue;
                    }
                    log::error!("the {} corpus is not loaded: {error:#}", kind.label());
                    "refused"
                }
            };
            metrics::count_load(kind, result);
        }
    }
}

/// Opens a folder's active corpus.
fn load(folder: &KindFolder, memory_limit: u64) -> anyhow::Result<Option<Corpus>> {
    let Some(path) = folder.current()? else { return Ok(None) };
    let corpus = Corpus::open(&path, memory_limit)?;
    if corpus.kind() != folder.kind() {
        return Err(CorpusError::Kind { path, found: corpus.kind() }.into());
    }
    corpus.spot_check()?;
    Ok(Some(corpus))
}

/// Describes each kind's active corpus in the output of `serve --check`, without reading the data
/// into memory.
pub fn preview(settings: &Settings, data_dir: &Path, preview: &mut Preview) {
    for kind in &settings.kinds {
        let folder = KindFolder::new(data_dir, *kind);
        let found = load(&folder, 0).map(|corpus| match corpus {
            Some(corpus) => {
                let entries = corpus.header().entries;
                format!("{entries} digests in {}", corpus.path().display())
            }
            None => format!(
                "no corpus in {}; requests for its ranges get a 503",
                folder.path().display()
            ),
        });
        preview.add(kind.name(), found);
    }
}

/// Returns whether the cause is an I/O error, which may be temporary, such as running out of file
/// descriptors or a failing network disk.
fn is_unreadable(error: &anyhow::Error) -> bool {
    let of_corpus = matches!(
        error.downcast_ref::<CorpusError>(),
        Some(
            CorpusError::Unreadable { .. }
                | CorpusError::Bucket { cause: BucketProblem::Read(_), .. }
        )
    );
    of_corpus || error.is::<io::Error>()
}

fn announce(corpus: &Corpus) {
    let (kind, header) = (corpus.kind(), corpus.header());
    log::info!("{} corpus: {} digests, {}", kind.label(), header.entries, corpus.path().display());
    metrics::describe_corpus(header);
}

/// Reloads everything on SIGHUP, and corpora that have changed every `interval` seconds. Loading
/// runs on a separate thread.
pub async fn watch(reloader: Arc<Reloader>, interval: u64) {
    let mut hangups = Hangups::subscribe();
    // An interval of 0 disables the checks, so wait for 136 years.
    let period = if interval == 0 { u64::from(u32::MAX) } else { interval };
    let period = Duration::from_secs(period);
    loop {
        let all = tokio::time::timeout(period, hangups.next()).await.is_ok();
        let reloader = reloader.clone();
        if tokio::task::spawn_blocking(move || reloader.look(all)).await.is_err() {
            log::error!("a reload panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Settings;
    use crate::model::Kind;

    #[test]
    fn unreadable_corpus_is_retried_and_a_damaged_one_is_not() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join(Kind::Sha1.name());
        // Not even root can read a folder as a file.
        fs::create_dir_all(folder.join("unreadable.pwr")).unwrap();
        fs::write(folder.join("damaged.pwr"), "PWRANGE").unwrap();
        let settings = Settings { kinds: vec![Kind::Sha1], ..Settings::default() };
        let reloader = Reloader::new(Arc::new(State::new(settings)), data.path());
        for (name, tried_again) in [("unreadable", true), ("damaged", false)] {
            fs::write(folder.join("CURRENT"), format!("{name}.pwr\n")).unwrap();
            for _ in 0..2 {
                reloader.look(false);
                assert_eq!(reloader.seen.lock()[0].unreadable, tried_again, "{name}");
            }
        }
    }

    #[test]
    fn damaged_current_is_noticed_in_a_folder_that_had_none() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join(Kind::Ntlm.name());
        fs::create_dir_all(&folder).unwrap();
        let settings = Settings { kinds: vec![Kind::Ntlm], ..Settings::default() };
        let state = Arc::new(State::new(settings));
        let reloader = Reloader::new(state.clone(), data.path());
        reloader.look(false);
        assert!(!state.is_unusable(Kind::Ntlm));
        fs::write(folder.join("CURRENT"), "").unwrap();
        reloader.look(false);
        assert!(state.is_unusable(Kind::Ntlm));
        fs::remove_file(folder.join("CURRENT")).unwrap();
        reloader.look(false);
        assert!(!state.is_unusable(Kind::Ntlm));
    }
}
