//! Fetches all ranges in order, then builds and activates the corpora.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use batch::{ByteSize, ProgressReporter, Unit};
use domain::{Clock, HashPrefix};
use futures_util::{StreamExt, stream};
use tokio::runtime::Runtime;

use super::base::Base;
use super::fetcher::{Fetcher, Politeness};
use super::report::{Mirrored, Traffic};
use super::upstream::{Answer, Range, Upstream};
use crate::model::{Kind, PREFIXES};
use crate::store::{FolderLock, KindFolder, PartialCorpus, activate_all, remove_partial};

/// Number of fetched ranges, per concurrent request, that can wait for an earlier range to arrive.
const AHEAD: usize = 16;
/// Maximum number of waiting ranges in total.
const MOST_AHEAD: usize = 1024;

/// Mirror options.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// The kinds to fetch.
    pub kinds: Vec<Kind>,
    /// The limits for requests.
    pub politeness: Politeness,
    /// Number of ranges to fetch. The rest are left empty.
    pub ranges: u32,
    /// Whether to discard the data fetched by an interrupted run.
    pub restart: bool,
    /// Whether to start serving the new corpora.
    pub activate: bool,
    /// The source of the data. Defaults to the service's address.
    pub note: Option<String>,
}

impl Mirror {
    /// Mirrors each kind, activates all of them at once, and reports on each.
    ///
    /// # Errors
    /// Returns an error if the service does not respond like a range service, the disk is full, or
    /// another command has locked the folder. Ranges that were fetched are kept for the next run.
    pub fn run(
        &self,
        upstream: Upstream,
        data_dir: &Path,
        clock: &dyn Clock,
        mut report: impl FnMut(&Mirrored) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let folders: Vec<_> =
            self.kinds.iter().map(|kind| KindFolder::new(data_dir, *kind)).collect();
        let locks = folders.iter().map(KindFolder::lock).collect::<anyhow::Result<Vec<_>>>()?;
        let source = upstream.source().to_owned();
        let fetcher = Arc::new(Fetcher::new(upstream, self.politeness));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let fetched = self.fetch_kinds(&folders, &locks, &fetcher, &runtime);
        runtime.shutdown_background();
        let fetched = fetched?;
        let note = self.note.clone().unwrap_or(source);
        let mut complete = Vec::new();
        for (corpus, traffic) in fetched {
            complete.push((corpus.complete(&note, clock.unix())?, traffic));
        }
        let mut named = Vec::new();
        for (corpus, traffic) in complete {
            named.push((corpus.name()?, traffic));
        }
        if self.activate {
            let paths = named.iter().map(|((path, _), _)| path.as_path());
            let all = folders.iter().zip(&locks).zip(paths);
            activate_all(all.map(|((folder, lock), path)| (folder, lock, path)))?;
        }
        for ((path, header), traffic) in named {
            report(&Mirrored::new(path, &header, traffic, self.activate))?;
        }
        Ok(())
    }

    fn fetch_kinds(
        &self,
        folders: &[KindFolder],
        locks: &[FolderLock],
        fetcher: &Arc<Fetcher>,
        runtime: &Runtime,
    ) -> anyhow::Result<Vec<(PartialCorpus, Traffic)>> {
        // If one kind isn't available, fail before spending hours on fetching the other.
        for kind in &self.kinds {
            let Some(first) = HashPrefix::from_value(0) else { continue };
            runtime.block_on(fetcher.fetch(*kind, first, None)).context(kind.label())?;
        }
        let fetch = |(folder, lock)| self.fetch_kind(folder, lock, fetcher, runtime);
        folders.iter().zip(locks).map(fetch).collect()
    }

    fn fetch_kind(
        &self,
        folder: &KindFolder,
        lock: &FolderLock,
        fetcher: &Arc<Fetcher>,
        runtime: &Runtime,
    ) -> anyhow::Result<(PartialCorpus, Traffic)> {
        if self.restart {
            remove_partial(folder, lock)?;
        }
        let source = fetcher.upstream().source();
        let base = Base::find(folder, source)?;
        let mut corpus = PartialCorpus::open(folder, lock, source)?;
        // Don't continue a run that fetched more ranges than wanted, because every fetched range
        // would end up in the corpus.
        let (kept, wanted) = (corpus.next(), self.ranges);
        ensure!(
            kept <= wanted,
            "an unfinished run already has {kept} ranges of {}, more than the first {wanted}: \
             finish it without --first, or discard its ranges with --restart",
            folder.kind().label()
        );
        let traffic = Traffic { resumed: corpus.next(), ..Traffic::default() };
        let retries = fetcher.retries();
        let mut walk = Walk { kind: folder.kind(), fetcher, base, corpus: &mut corpus, traffic };
        let outcome = runtime.block_on(walk.fetch_all(self.ranges));
        let traffic = Traffic { retries: fetcher.retries() - retries, ..walk.traffic };
        // Do this even if fetching failed, so that the next run can resume.
        let outcome = outcome.and(corpus.checkpoint());
        outcome.with_context(|| {
            let kept = corpus.kept();
            format!("{kept} ranges are kept; run the same command again to continue")
        })?;
        if corpus.is_empty() {
            // An empty corpus would report every password as safe.
            bail!(
                "{source} has no {} digest in {}, so nothing was built; check whether it is the \
                 right service, and use --restart to fetch them again",
                folder.kind().label(),
                asked(self.ranges)
            );
        }
        Ok((corpus, traffic))
    }
}

fn asked(ranges: u32) -> String {
    if ranges as usize >= PREFIXES {
        return "any range".to_owned();
    }
    format!("the first {ranges} ranges")
}

/// Fetches the ranges of one kind in order.
struct Walk<'a> {
    kind: Kind,
    fetcher: &'a Arc<Fetcher>,
    base: Option<Base>,
    corpus: &'a mut PartialCorpus,
    traffic: Traffic,
}

impl Walk<'_> {
    async fn fetch_all(&mut self, ranges: u32) -> anyhow::Result<()> {
        let progress = ProgressReporter::new(
            format!("mirroring {}", self.kind.label()),
            Unit::Items("ranges"),
            Some(u64::from(ranges)),
        )
        .resumed_from(u64::from(self.corpus.next()));
        let base = self.base.take();
        let kind = self.kind;
        let window = (self.fetcher.politeness().concurrency * AHEAD).min(MOST_AHEAD);
        let missing = (self.corpus.next()..ranges).filter_map(HashPrefix::from_value);
        let mut answers = stream::iter(missing)
            .map(|prefix| {
                let tag = base.as_ref().and_then(|base| base.tag(prefix)).map(<[u8]>::to_vec);
                let fetcher = self.fetcher.clone();
                let task = async move {
                    let answer = fetcher.fetch(kind, prefix, tag.as_deref()).await?;
                    Ok::<_, anyhow::Error>((prefix, answer, tag.unwrap_or_default()))
                };
                let task = tokio::spawn(task);
                async move { task.await? }
            })
            .buffered(window);
        let mut buffer = Vec::new();
        let (fetcher, corpus, traffic) = (self.fetcher, &mut *self.corpus, &mut self.traffic);
        while let Some(answer) = answers.next().await {
            let range = match answer? {
                (_, Answer::Range(range), _) => range,
                (prefix, Answer::Same, tag) => {
                    let old = base.as_ref().and_then(|base| base.bucket(prefix, &mut buffer).ok());
                    if let Some((bytes, digest)) = old {
                        corpus.copy(bytes, digest, &tag)?;
                        traffic.unchanged += 1;
                        show(&progress, corpus, traffic, fetcher);
                        continue;
                    }
                    // The base's copy is damaged, so fetch the range without a tag.
                    whole(fetcher, kind, prefix).await?
                }
            };
            corpus.append(&range.encoded, &range.tag)?;
            traffic.changed += 1;
            traffic.received += range.received;
            show(&progress, corpus, traffic, fetcher);
        }
        progress.finish();
        Ok(())
    }
}

async fn whole(fetcher: &Fetcher, kind: Kind, prefix: HashPrefix) -> anyhow::Result<Range> {
    match fetcher.fetch(kind, prefix, None).await? {
        Answer::Range(range) => Ok(range),
        Answer::Same => bail!("range {prefix}: not modified, although no tag was sent"),
    }
}

fn show(progress: &ProgressReporter, corpus: &PartialCorpus, traffic: &Traffic, fetcher: &Fetcher) {
    progress.set_with(u64::from(corpus.next()), || {
        let received = ByteSize(traffic.received);
        let mut text = format!("{received} received, {} unchanged", traffic.unchanged);
        if fetcher.retries() > 0 {
            text += &format!(", {} retries", fetcher.retries());
        }
        text
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_mention_only_requested_ranges() {
        assert_eq!(asked(1_048_576), "any range");
        assert_eq!(asked(1_048_575), "the first 1048575 ranges");
        assert_eq!(asked(300), "the first 300 ranges");
    }
}
