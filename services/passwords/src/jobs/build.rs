//! Builds corpora from lists.

use std::path::Path;

use domain::Clock;

use super::report::Built;
use super::source::{Lists, Source};
use crate::model::{CountMerge, Entry, Kind};
use crate::store::{CorpusWriter, Encoded, KindFolder, activate_all};

/// Build options.
#[derive(Clone, Debug)]
pub struct Build {
    /// The kinds to build. If empty, hash lists are built as the kind detected in them, and
    /// password lists as both kinds.
    pub kinds: Vec<Kind>,
    /// How to combine counts when several inputs contain the same digest.
    pub on_duplicate: CountMerge,
    /// The inputs and their formats.
    pub lists: Lists,
}

impl Build {
    /// Builds a corpus of each kind, and reports on each.
    ///
    /// # Errors
    /// Returns an error if the input is invalid or empty, the disk is full, or another build is
    /// running.
    pub fn run(
        &self,
        data_dir: &Path,
        clock: &dyn Clock,
        mut report: impl FnMut(&Built) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let source = Source::new(&self.lists, &self.kinds, self.on_duplicate, data_dir)?;
        // Take the locks first: if the folders aren't writable, the build should fail before
        // spending hours on reading.
        let folders: Vec<KindFolder> =
            source.kinds.iter().map(|kind| KindFolder::new(data_dir, *kind)).collect();
        let locks = folders.iter().map(KindFolder::lock).collect::<anyhow::Result<Vec<_>>>()?;
        source.clear_up()?;
        let partitioned = source.partition_if_needed()?;
        let mut complete = Vec::new();
        for (folder, lock) in folders.iter().zip(&locks) {
            let kind = folder.kind();
            let (writer, tally) = source.with_retry(partitioned.as_ref(), |entries| {
                let mut writer = CorpusWriter::create(folder, lock)?;
                let finish = |list: Vec<Entry>| Encoded::of(kind, &list);
                let tally = entries.read(kind, finish, |encoded| writer.append(&encoded))?;
                Ok((writer, tally))
            })?;
            source.require_digests(kind, !writer.is_empty(), tally)?;
            complete.push((writer.complete(&source.note, clock.unix())?, tally));
        }
        // Activate either all kinds or none.
        let mut named = Vec::new();
        for (corpus, tally) in complete {
            named.push((corpus.name()?, tally));
        }
        if self.lists.activate {
            let paths = named.iter().map(|((path, _), _)| path.as_path());
            let all = folders.iter().zip(&locks).zip(paths);
            activate_all(all.map(|((folder, lock), path)| (folder, lock, path)))?;
        }
        for ((path, header), tally) in named {
            report(&Built::new(path, &header, self.lists.activate, tally))?;
        }
        Ok(())
    }
}
