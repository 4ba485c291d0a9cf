//! Builds corpora from lists.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, bail};
use batch::{ByteSize, Input, Output, ProgressReporter, TemporaryFolder, Unit};
use domain::Clock;

use super::feed::{self, Feed};
use super::folder::{self, FolderPass};
use super::input::{self, InputFormat, Reading, common_kind};
use super::ordered::{self, Disorder, Pass};
use super::pipeline::Crew;
use super::report::{Built, Tally};
use super::unordered::{Spreaded, Spreading, refuse_folders};
use crate::model::entry::Unite;
use crate::model::plaintext::{Dialect, Encoding};
use crate::model::{Entry, Kind};
use crate::store::writer::Encoded;
use crate::store::{CorpusWriter, KindFolder};

/// How counts of one digest from several inputs become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnDuplicate {
    /// Counts add up.
    Sum,
    /// The larger count wins: for inputs that overlap.
    Max,
}

/// What lists are read and how.
#[derive(Clone, Debug, clap::Args)]
pub struct Lists {
    /// Shape of the inputs [default: folder for folders, else hashes]
    #[arg(long, value_enum)]
    pub input_format: Option<InputFormat>,
    /// Hash lists are in any order
    #[arg(long)]
    pub unordered: bool,
    /// Count and skip lines that are no entry
    #[arg(long)]
    pub lenient: bool,
    /// How password lists are written
    #[arg(long, value_enum, default_value = "utf8")]
    pub encoding: Encoding,
    /// Password lists hold a count and one space in front of each password
    #[arg(long)]
    pub with_counts: bool,
    /// Memory that sorting may take, with K, M or G
    #[arg(long, default_value = "1G", value_parser = sorting_memory)]
    pub memory: ByteSize,
    /// Folder for temporary files [default: DATA_DIR/tmp]
    #[arg(long, value_name = "DIR")]
    pub tmp: Option<PathBuf>,
    /// Threads that parse, hash and sort [default: cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Serve the new corpus from now on
    #[arg(long)]
    pub activate: bool,
    /// Where the data come from, kept in the header [default: names of the inputs]
    #[arg(long)]
    pub note: Option<String>,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
    /// Files, folders, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

/// Options of `build`.
#[derive(Clone, Debug, clap::Args)]
pub struct Build {
    /// Kinds to build: taken from hash lists; both for plaintext unless given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(Kind))]
    pub kind: Vec<Kind>,
    /// How counts of one digest in several inputs become one
    #[arg(long, value_enum, default_value = "sum")]
    pub on_duplicate: OnDuplicate,
    /// What is read and how
    #[command(flatten)]
    pub lists: Lists,
}

impl Build {
    /// Builds a corpus of each kind and reports them.
    ///
    /// # Errors
    /// Bad input, a full disk, or another build that is under way.
    pub fn run(&self, data_dir: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let unite = match self.on_duplicate {
            OnDuplicate::Sum => Unite::Sum,
            OnDuplicate::Max => Unite::Max,
        };
        let source = Source::new(&self.lists, &self.kind, unite, data_dir)?;
        // Locks first: who may not write should not read for hours.
        let folders: Vec<KindFolder> =
            source.kinds.iter().map(|kind| KindFolder::new(data_dir, *kind)).collect();
        let locks = folders.iter().map(KindFolder::lock).collect::<anyhow::Result<Vec<_>>>()?;
        let spread = source.spread_if_needed()?;
        for (folder, lock) in folders.iter().zip(&locks) {
            let kind = folder.kind();
            let (writer, tally) = source.with_retry(spread.as_ref(), |entries| {
                let mut writer = CorpusWriter::create(folder, lock)?;
                let finish = |list: Vec<Entry>| Encoded::of(kind, &list);
                let tally = entries.read(kind, finish, |encoded| writer.append(&encoded))?;
                Ok((writer, tally))
            })?;
            let (path, header) = writer.finish(&source.note, clock.unix())?;
            if self.lists.activate {
                folder.activate(&path, lock)?;
            }
            Built::new(path, &header, self.lists.activate, tally)
                .print(Output::from_json_flag(self.lists.json))?;
        }
        Ok(())
    }
}

/// The inputs of a command, looked at but not yet read.
pub struct Source {
    inputs: Vec<Input>,
    format: InputFormat,
    unordered: bool,
    reading: Reading,
    unite: Unite,
    memory: ByteSize,
    tmp: PathBuf,
    crew: Crew,
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
    Sorted(&'a (Spreaded, Tally)),
}

impl Source {
    /// Looks at the inputs and finds out what they are.
    ///
    /// # Errors
    /// Inputs that are not there, do not fit together or do not tell their kind.
    pub fn new(
        lists: &Lists,
        kinds: &[Kind],
        unite: Unite,
        data_dir: &Path,
    ) -> anyhow::Result<Self> {
        let inputs =
            lists.inputs.iter().map(|path| input::at(path)).collect::<anyhow::Result<Vec<_>>>()?;
        if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
            bail!("standard input can be read only once");
        }
        let format = lists.input_format.unwrap_or(InputFormat::Hashes);
        let mut kinds = kinds.to_vec();
        kinds.sort();
        kinds.dedup();
        if format == InputFormat::Plaintext {
            refuse_folders(&inputs)?;
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
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let names: Vec<String> = inputs.iter().map(file_name).collect();
        Ok(Self {
            unordered: lists.unordered || format == InputFormat::Plaintext,
            reading: Reading { lenient: lists.lenient, dialect },
            unite,
            memory: lists.memory,
            tmp: lists.tmp.clone().unwrap_or_else(|| data_dir.join("tmp")),
            crew: Crew::of(lists.threads.unwrap_or(cores)),
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
    pub fn spread_if_needed(&self) -> anyhow::Result<Option<(Spreaded, Tally)>> {
        let needed = self.unordered || self.inputs.len() > feed::MOST;
        if needed { self.spread().map(Some) } else { Ok(None) }
    }

    fn spread(&self) -> anyhow::Result<(Spreaded, Tally)> {
        let spreading = Spreading {
            inputs: &self.inputs,
            format: self.format,
            kinds: &self.kinds,
            reading: self.reading,
            unite: self.unite,
            memory: self.memory.0,
            crew: self.crew,
        };
        let folder = TemporaryFolder::create(&self.tmp, "build")
            .with_context(|| format!("cannot write temporary files to {}", self.tmp.display()))?;
        spreading.run(folder)
    }

    /// Runs `work` over the entries; if a list turns out not to be in order, and all lists can be
    /// read again, sorts them and runs `work` once more.
    ///
    /// # Errors
    /// What `work` says.
    pub fn with_retry<T>(
        &self,
        spread: Option<&(Spreaded, Tally)>,
        mut work: impl FnMut(Ordered<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let first = match spread {
            Some(spread) => return work(Ordered::Sorted(spread)),
            None => work(Ordered::Passes(self)),
        };
        match first {
            Err(error)
                if error.is::<Disorder>() && self.inputs.iter().all(Input::is_rereadable) =>
            {
                log::info!("{error}: sorting instead");
                work(Ordered::Sorted(&self.spread()?))
            }
            first => first,
        }
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
            Self::Sorted((spreaded, tally)) => {
                spreaded.read(kind, finish, consume)?;
                Ok(*tally)
            }
            Self::Passes(source) => match &source.inputs[..] {
                [input] => source.pass(input, kind, source.crew, 1, finish, consume),
                several => thread::scope(|scope| {
                    let crew = Crew { threads: 1, window: 2 };
                    let feeds = several.iter().map(|input| {
                        Feed::start(scope, move |send| {
                            source.pass(input, kind, crew, several.len(), Ok, send)
                        })
                    });
                    feed::unite(feeds.collect(), source.unite, |list| consume(finish(list)?))
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
        crew: Crew,
        beside: usize,
        finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
        consume: impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<Tally> {
        let progress = &ProgressReporter::new("reading", Unit::Bytes, input.length());
        let reading = self.reading;
        if let Input::Folder(path) = input {
            let pass = FolderPass { path, kind, reading, crew, progress };
            return folder::read(pass, finish, consume);
        }
        let chunk = (ordered::CHUNK / beside).max(ordered::CHUNK / 16);
        ordered::read(Pass { input, kind, reading, crew, chunk, progress }, finish, consume)
    }
}

fn file_name(input: &Input) -> String {
    match input {
        Input::File(path) | Input::Folder(path) | Input::Stream(path) => {
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        }
        Input::Stdin => input.to_string(),
    }
}

/// Reads the memory that sorting may take, such as `512M`.
fn sorting_memory(text: &str) -> anyhow::Result<ByteSize> {
    let memory: ByteSize = text.parse()?;
    if memory < ByteSize::mib(1) {
        bail!("sorting needs at least 1M");
    }
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_needs_memory() {
        assert_eq!(sorting_memory("1048576").unwrap(), ByteSize::mib(1));
        for (wrong, expected) in [
            ("1048575", "sorting needs at least 1M"),
            ("1T", "expected a number with K, M or G"),
            ("99999999999G", "the number is too large"),
        ] {
            assert_eq!(sorting_memory(wrong).unwrap_err().to_string(), expected);
        }
    }
}
