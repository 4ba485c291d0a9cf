//! Options and reports shared by `build` and `merge`.

use std::path::PathBuf;

use anyhow::bail;
use batch::{ByteSize, Output};
use clap::builder::RangedU64ValueParser;

use super::threads::cores;
use crate::jobs::{self, Built, InputFormat};
use crate::model::CountMerge;
use crate::model::plaintext::Encoding;

const LEAST_MEMORY: ByteSize = ByteSize::mib(1);

/// The inputs and their formats.
#[derive(Clone, Debug, clap::Args)]
pub struct Lists {
    /// Input format [default: folder for folders, hashes for files]
    #[arg(long, value_enum)]
    input_format: Option<FormatArgument>,
    /// Accept unsorted hash lists
    #[arg(long)]
    unordered: bool,
    /// Skip and count invalid lines instead of stopping at the first one
    #[arg(long)]
    lenient: bool,
    /// Character encoding of password lists
    #[arg(long, value_enum, default_value = "utf8")]
    encoding: EncodingArgument,
    /// Expect a count and a space before each password
    #[arg(long)]
    with_counts: bool,
    /// Maximum memory for sorting, with a suffix of K, M or G; at least 1M
    #[arg(long, default_value = "1G", value_parser = memory)]
    memory: ByteSize,
    /// Folder for temporary files [default: DATA_DIR/tmp]
    #[arg(long, value_name = "DIR")]
    tmp: Option<PathBuf>,
    /// Number of threads for parsing, hashing and sorting, 1 to 1024 [default: number of CPU cores]
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_024))]
    threads: Option<usize>,
    /// Activate the new corpus, so that the service starts serving it
    #[arg(long)]
    activate: bool,
    /// Allow inputs that contain no hashes. Without this option, they are an error
    #[arg(long)]
    allow_empty: bool,
    /// Data source to record in the corpus header [default: names of the inputs]
    #[arg(long)]
    note: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Files or folders to read, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatArgument {
    /// `HASH:COUNT` lines
    Hashes,
    /// One file per prefix, in the format of the service's responses
    Folder,
    /// One password per line
    Plaintext,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EncodingArgument {
    /// UTF-8. Lines that are not valid UTF-8 are skipped
    #[value(name = "utf8")]
    Utf8,
    /// ISO 8859-1. Every line is valid
    #[value(name = "latin1")]
    Latin1,
}

/// How to combine a digest's counts from several inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MergeArgument {
    /// Add the counts, for inputs from separate incidents
    Sum,
    /// Keep the larger count, for inputs that are versions of the same source
    Max,
    /// Keep the count from the later input
    Replace,
}

impl From<MergeArgument> for CountMerge {
    fn from(argument: MergeArgument) -> Self {
        match argument {
            MergeArgument::Sum => Self::Sum,
            MergeArgument::Max => Self::Max,
            MergeArgument::Replace => Self::Replace,
        }
    }
}

impl Lists {
    /// Converts to job options.
    pub fn to_job(&self) -> jobs::Lists {
        jobs::Lists {
            input_format: self.input_format.map(|format| match format {
                FormatArgument::Hashes => InputFormat::Hashes,
                FormatArgument::Folder => InputFormat::Folder,
                FormatArgument::Plaintext => InputFormat::Plaintext,
            }),
            unordered: self.unordered,
            lenient: self.lenient,
            encoding: match self.encoding {
                EncodingArgument::Utf8 => Encoding::Utf8,
                EncodingArgument::Latin1 => Encoding::Latin1,
            },
            with_counts: self.with_counts,
            memory: self.memory,
            tmp: self.tmp.clone(),
            threads: self.threads.unwrap_or_else(cores),
            activate: self.activate,
            allow_empty: self.allow_empty,
            note: self.note.clone(),
            inputs: self.inputs.clone(),
        }
    }

    /// Prints a report, either as a JSON object on one line or as a sentence and the path.
    pub fn print(&self, built: &Built) -> anyhow::Result<()> {
        let output = Output::from_json_flag(self.json);
        output.note(format_args!(
            "{}: {} digests from {}{}",
            built.file.kind,
            built.file.entries,
            built.read,
            if built.activated { ", activated" } else { "" }
        ));
        Ok(output.print(built, built.file.path.display())?)
    }
}

/// Parses a size such as `512M`.
fn memory(text: &str) -> anyhow::Result<ByteSize> {
    let size: ByteSize = text.parse()?;
    if size < LEAST_MEMORY {
        bail!("sorting needs at least 1M of memory");
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_memory_has_a_minimum() {
        assert_eq!(memory("16M").unwrap(), ByteSize::mib(16));
        for wrong in ["", "1T", "1", "1023K"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }
}
