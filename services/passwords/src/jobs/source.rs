//! The lists of a command as entries in the order of digests.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, bail};
use batch::{ByteSize, Input, ProgressReporter, TemporaryFolder, Unit};

use super::folder::{self, FolderPass};
use super::ordered::{self, Disorder, Pass};
use super::read_ahead::{self, ReadAhead};
use super::reading::{self, InputFormat, Reading, input_at};
use super::tally::Tally;
use super::unordered::{Partitioned, Partitioning, reject_folders};
use super::worker_pool::WorkerPool;
use crate::model::plaintext::{Dialect, Encoding};
use crate::model::{CountMerge, Entry, Kind};

/// What the folders of temporary files are called, before a number.
const TMP_PREFIX: &str = "build";

/// Removes the temporary files of builds that were killed.
///
/// # Errors
/// They cannot be removed.
pub fn remove_temporary_files(tmp: &Path) -> anyhow::Result<()> {
    TemporaryFolder::remove_abandoned(tmp, TMP_PREFIX)
        .with_context(|| format!("cannot remove temporary files from {}", tmp.display()))
}

/// What lists are read and how.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Shape of the inputs; `folder` for folders and else `hashes` if none is given.
    pub input_format: Option<InputFormat>,
    /// Hash lists are in any order.
    pub unordered: bool,
    /// Lines that are no entry are counted and skipped.
    pub lenient: bool,
    /// How password lists are written.
    pub encoding: Encoding,
    /// Password lists hold a count and one space in front of each password.
    pub with_counts: bool,
    /// Memory that sorting may take.
    pub memory: ByteSize,
    /// Folder for temporary files; `tmp` in the data folder if none is given.
    pub tmp: Option<PathBuf>,
    /// Threads that parse, hash and sort.
    pub threads: usize,
    /// Whether the new corpus is served from now on.
    pub activate: bool,
    /// Whether the inputs may be without any digest.
    pub allow_empty: bool,
    /// Where the data come from; the names of the inputs if nothing is given.
    pub note: Option<String>,
    /// Files, folders, or `-` for standard input.
    pub inputs: Vec<PathBuf>,
}

/// The inputs of a command, looked at but not yet read.
pub struct Source {
    inputs: Vec<Input>,
    format: InputFormat,
    unordered: bool,
    reading: Reading,
    merge: CountMerge,
    memory: u64,
    tmp: PathBuf,
    pool: WorkerPool,
    allow_empty: bool,
    /// What will be built.
    pub kinds: Vec<Kind>,
    /// The source note of the new corpus.
    pub note: String,
}

/// The entries of a source in the order of digests.
pub enum Ordered<'a> {
    /// The inputs are in order.
    Passes(&'a Source),
    /// They were brought into order.
    Sorted(&'a (Partitioned, Tally)),
}

impl Source {
    /// Looks at the inputs and finds out what they are.
    ///
    /// # Errors
    /// Inputs that are not there, do not fit together or do not tell their kind.
    pub fn new(
        lists: &Lists,
        kinds: &[Kind],
        merge: CountMerge,
        data_dir: &Path,
    ) -> anyhow::Result<Self> {
        let inputs =
            lists.inputs.iter().map(|path| input_at(path)).collect::<anyhow::Result<Vec<_>>>()?;
        if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
            bail!("standard input can be read only once");
        }
        let format = lists.input_format.unwrap_or(InputFormat::Hashes);
        let mut kinds = kinds.to_vec();
        kinds.sort();
        kinds.dedup();
        if format == InputFormat::Plaintext {
            reject_folders(&inputs)?;
            if kinds.is_empty() {
                kinds = Kind::ALL.to_vec();
            }
        } else {
            if kinds.len() > 1 {
                bail!("a list of hashes holds one kind; give one --kind");
            }
            kinds = vec![common_kind(&inputs, kinds.first().copied())?];
        }
        if let (Some(InputFormat::Folder), Some(input)) =
            (lists.input_format, inputs.iter().find(|input| !matches!(input, Input::Folder(_))))
        {
            bail!("{input} is not a folder");
        }
        let dialect = Dialect { encoding: lists.encoding, with_counts: lists.with_counts };
        let names: Vec<String> = inputs.iter().map(file_name).collect();
        Ok(Self {
            unordered: lists.unordered || format == InputFormat::Plaintext,
            reading: Reading { lenient: lists.lenient, dialect },
            merge,
            memory: lists.memory.0,
            tmp: lists.tmp.clone().unwrap_or_else(|| default_tmp(data_dir)),
            pool: WorkerPool::of(lists.threads),
            allow_empty: lists.allow_empty,
            note: lists.note.clone().unwrap_or_else(|| names.join(", ")),
            inputs,
            format,
            kinds,
        })
    }

    /// Reads inputs that are known to be in any order.
    ///
    /// # Errors
    /// Bad input or a full disk.
    pub fn partition_if_needed(&self) -> anyhow::Result<Option<(Partitioned, Tally)>> {
        let needed = self.unordered || self.inputs.len() > read_ahead::MOST;
        if needed { self.partition().map(Some) } else { Ok(None) }
    }

    /// Removes the temporary files of builds that were killed.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn clear_up(&self) -> anyhow::Result<()> {
        remove_temporary_files(&self.tmp)
    }

    fn partition(&self) -> anyhow::Result<(Partitioned, Tally)> {
        let partitioning = Partitioning {
            inputs: &self.inputs,
            format: self.format,
            kinds: &self.kinds,
            reading: self.reading,
            merge: self.merge,
            memory: self.memory,
            pool: self.pool,
        };
        let folder = TemporaryFolder::create(&self.tmp, TMP_PREFIX)
            .with_context(|| format!("cannot write temporary files to {}", self.tmp.display()))?;
        partitioning.run(folder)
    }

    /// Runs `work` over the entries; if a list turns out not to be in order, and all lists can be
    /// read again, sorts them and runs `work` once more.
    ///
    /// # Errors
    /// What `work` says.
    pub fn with_retry<T>(
        &self,
        partitioned: Option<&(Partitioned, Tally)>,
        mut work: impl FnMut(Ordered<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let first = match partitioned {
            Some(partitioned) => return work(Ordered::Sorted(partitioned)),
            None => work(Ordered::Passes(self)),
        };
        match first {
            Err(error)
                if error.is::<Disorder>() && self.inputs.iter().all(Input::is_rereadable) =>
            {
                log::info!("{error}: sorting instead");
                work(Ordered::Sorted(&self.partition()?))
            }
            first => first,
        }
    }

    /// Refuses inputs in which no digest of a kind was found, unless they may be empty: a producer
    /// that failed leaves such a list, and whoever asks an empty corpus is told that no password
    /// was ever exposed.
    ///
    /// # Errors
    /// Nothing was found, and that is not allowed.
    pub fn require_digests(&self, kind: Kind, found: bool, read: Tally) -> anyhow::Result<()> {
        if found || self.allow_empty {
            return Ok(());
        }
        let inputs = match &self.inputs[..] {
            [input] => input.to_string(),
            several => format!("{} inputs", several.len()),
        };
        bail!(
            "{inputs}: no {} digest in {read}, so nothing was built; check what made the list, or \
             give --allow-empty if it is meant to be empty",
            kind.label()
        )
    }
}

impl Ordered<'_> {
    /// Gives all entries of a kind; see [`ordered::read`] for `finish` and `consume`.
    ///
    /// # Errors
    /// Bad input, a full disk, or an error of `finish` or `consume`.
    pub fn read<T: Send>(
        &self,
        kind: Kind,
        finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
        mut consume: impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<Tally> {
        match self {
            Self::Sorted((partitioned, tally)) => {
                partitioned.read(kind, finish, consume)?;
                Ok(*tally)
            }
            Self::Passes(source) => match &source.inputs[..] {
                [input] => source.pass(input, kind, source.pool, 1, finish, consume),
                several => thread::scope(|scope| {
                    let pool = WorkerPool { threads: 1, window: 2 };
                    let inputs = several.iter().map(|input| {
                        ReadAhead::start(scope, move |send| {
                            source.pass(input, kind, pool, several.len(), Ok, send)
                        })
                    });
                    read_ahead::merge(inputs.collect(), source.merge, |list| consume(finish(list)?))
                }),
            },
        }
    }
}

impl Source {
    fn pass<T: Send>(
        &self,
        input: &Input,
        kind: Kind,
        pool: WorkerPool,
        beside: usize,
        finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
        consume: impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<Tally> {
        let reporter = ProgressReporter::new("reading", Unit::Bytes, input.length());
        let (reading, progress) = (self.reading, &reporter);
        let tally = if let Input::Folder(path) = input {
            let pass = FolderPass { path, kind, reading, pool, progress };
            folder::read(pass, finish, consume)?
        } else {
            let chunk = (ordered::CHUNK / beside).max(ordered::CHUNK / 16);
            let pass = Pass { input, kind, reading, pool, chunk, progress };
            reading::unchanged(input, || ordered::read(pass, finish, consume))?
        };
        reporter.finish();
        Ok(tally)
    }
}

/// Where temporary files go unless another folder is named.
pub fn default_tmp(data_dir: &Path) -> PathBuf {
    data_dir.join("tmp")
}

fn file_name(input: &Input) -> String {
    let name = input.path().map(|path| path.file_name().unwrap_or(path.as_os_str()));
    name.map_or_else(|| input.to_string(), |name| name.to_string_lossy().into_owned())
}

/// The one kind of several hash inputs.
fn common_kind(inputs: &[Input], wanted: Option<Kind>) -> anyhow::Result<Kind> {
    let mut kind = wanted;
    for input in inputs {
        kind = match input {
            Input::File(_) => reading::open_hashes(input, kind)?.1,
            Input::Folder(path) => kind.or(folder::kind_of(path)?),
            Input::Stdin | Input::Stream(_) => kind,
        };
    }
    kind.context("the kind cannot be told from the input; give --kind sha1 or --kind ntlm")
}
