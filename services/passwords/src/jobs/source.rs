//! Reads input lists as entries in digest order.

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

/// Name prefix of folders with temporary files.
const TMP_PREFIX: &str = "build";

/// Removes temporary files that killed builds left behind.
///
/// # Errors
/// Returns an error if the files cannot be removed.
pub fn remove_temporary_files(tmp: &Path) -> anyhow::Result<()> {
    TemporaryFolder::remove_abandoned(tmp, TMP_PREFIX)
        .with_context(|| format!("cannot remove temporary files from {}", tmp.display()))
}

/// The inputs and their formats.
#[derive(Clone, Debug)]
pub struct Lists {
    /// The input format. By default, folders are `folder` and files are `hashes`.
    pub input_format: Option<InputFormat>,
    /// Whether hash lists may be in any order.
    pub unordered: bool,
    /// Whether to count and skip invalid lines.
    pub lenient: bool,
    /// The character encoding of password lists.
    pub encoding: Encoding,
    /// Whether each line of a password list starts with a count and a space.
    pub with_counts: bool,
    /// Maximum memory for sorting.
    pub memory: ByteSize,
    /// The folder for temporary files. Defaults to `tmp` in the data folder.
    pub tmp: Option<PathBuf>,
    /// The number of threads for parsing, hashing and sorting.
    pub threads: usize,
    /// Whether to start serving the new corpus.
    pub activate: bool,
    /// Whether to accept inputs without digests.
    pub allow_empty: bool,
    /// The source of the data. Defaults to the inputs' names.
    pub note: Option<String>,
    /// Files, folders, or `-` for standard input.
    pub inputs: Vec<PathBuf>,
}

/// The inputs of a command, checked and with all defaults filled in.
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
    /// The kinds to build.
    pub kinds: Vec<Kind>,
    /// The source note for the new corpus.
    pub note: String,
}

/// How to read entries in digest order.
pub enum Ordered<'a> {
    /// The inputs are already sorted.
    Passes(&'a Source),
    /// This command has sorted the inputs.
    Sorted(&'a (Partitioned, Tally)),
}

impl Source {
    /// Examines the inputs.
    ///
    /// # Errors
    /// Returns an error if an input does not exist, the inputs don't go together, or an input's
    /// kind is unknown.
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
                bail!("a list of hashes can only be of one kind; pass a single --kind");
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

    /// Partitions the inputs if they may be unsorted, or if there are too many to merge at once.
    ///
    /// # Errors
    /// Returns an error if the input is invalid or the disk is full.
    pub fn partition_if_needed(&self) -> anyhow::Result<Option<(Partitioned, Tally)>> {
        let needed = self.unordered || self.inputs.len() > read_ahead::MOST;
        if needed { self.partition().map(Some) } else { Ok(None) }
    }

    /// Removes temporary files that killed builds left behind.
    ///
    /// # Errors
    /// Returns an error if the files cannot be removed.
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

    /// Runs `work` on the entries. If a list turns out to be unsorted and all lists can be read
    /// again, sorts them and then reruns `work`.
    ///
    /// # Errors
    /// Returns any error from `work`.
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

    /// Makes sure that the inputs contain digests of `kind`, unless empty inputs are allowed. An
    /// empty list often means that the program that created it failed, and an empty corpus would
    /// report every password as safe.
    ///
    /// # Errors
    /// Returns an error if there are no digests and empty inputs aren't allowed.
    pub fn require_digests(&self, kind: Kind, found: bool, read: Tally) -> anyhow::Result<()> {
        if found || self.allow_empty {
            return Ok(());
        }
        let inputs = match &self.inputs[..] {
            [input] => input.to_string(),
            several => format!("{} inputs", several.len()),
        };
        bail!(
            "{inputs}: no {} digest in {read}, so nothing was built; check how the list was \
             created, or use --allow-empty if it is meant to be empty",
            kind.label()
        )
    }
}

impl Ordered<'_> {
    /// Reads all entries of a kind. See [`ordered::read`] for `finish` and `consume`.
    ///
    /// # Errors
    /// Returns an error if the input is invalid or the disk is full, or any error from `finish` or
    /// `consume`.
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
        concurrent: usize,
        finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
        consume: impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<Tally> {
        let reporter = ProgressReporter::new("reading", Unit::Bytes, input.length());
        let (reading, progress) = (self.reading, &reporter);
        let tally = if let Input::Folder(path) = input {
            let pass = FolderPass { path, kind, reading, pool, progress };
            folder::read(pass, finish, consume)?
        } else {
            let chunk = (ordered::CHUNK / concurrent).max(ordered::CHUNK / 16);
            let pass = Pass { input, kind, reading, pool, chunk, progress };
            reading::unchanged(input, || ordered::read(pass, finish, consume))?
        };
        reporter.finish();
        Ok(tally)
    }
}

/// Returns the default folder for temporary files.
pub fn default_tmp(data_dir: &Path) -> PathBuf {
    data_dir.join("tmp")
}

fn file_name(input: &Input) -> String {
    let name = input.path().map(|path| path.file_name().unwrap_or(path.as_os_str()));
    name.map_or_else(|| input.to_string(), |name| name.to_string_lossy().into_owned())
}

/// Returns the kind shared by all hash lists.
fn common_kind(inputs: &[Input], wanted: Option<Kind>) -> anyhow::Result<Kind> {
    let mut kind = wanted;
    for input in inputs {
        kind = match input {
            Input::File(_) => reading::open_hashes(input, kind)?.1,
            Input::Folder(path) => kind.or(folder::kind_of(path)?),
            Input::Stdin if kind.is_none() => reading::kind_of_stdin()?,
            Input::Stdin | Input::Stream(_) => kind,
        };
    }
    kind.context("cannot detect the kind of the input; use --kind sha1 or --kind ntlm")
}
