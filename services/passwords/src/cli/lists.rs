//! What `build` and `merge` read, and how they report.

use std::path::PathBuf;

use anyhow::bail;
use batch::{ByteSize, Output};
use clap::builder::RangedU64ValueParser;

use super::threads::cores;
use crate::jobs::{self, Built, InputFormat};
use crate::model::CountMerge;
use crate::model::plaintext::Encoding;

/// Sorting needs at least this much memory.
const LEAST_MEMORY: ByteSize = ByteSize::mib(1);

/// What lists are read and how.
#[derive(Clone, Debug, clap::Args)]
pub struct Lists {
    /// Shape of the inputs [default: folder for folders, else hashes]
    #[arg(long, value_enum)]
    input_format: Option<FormatArgument>,
    /// Hash lists are in any order
    #[arg(long)]
    unordered: bool,
    /// Count and skip lines that are not entries
    #[arg(long)]
    lenient: bool,
    /// How password lists are written
    #[arg(long, value_enum, default_value = "utf8")]
    encoding: EncodingArgument,
    /// Password lists hold a count and one space in front of each password
    #[arg(long)]
    with_counts: bool,
    /// Memory that sorting may take, with K, M or G
    #[arg(long, default_value = "1G", value_parser = memory)]
    memory: ByteSize,
    /// Folder for temporary files [default: DATA_DIR/tmp]
    #[arg(long, value_name = "DIR")]
    tmp: Option<PathBuf>,
    /// Threads that parse, hash and sort, 1 to 1024 [default: cores]
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_024))]
    threads: Option<usize>,
    /// Serve the new corpus from now on
    #[arg(long)]
    activate: bool,
    /// Accept inputs without any digest, which are an error otherwise
    #[arg(long)]
    allow_empty: bool,
    /// Where the data come from, kept in the header [default: names of the inputs]
    #[arg(long)]
    note: Option<String>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// Files, folders, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatArgument {
    /// `HASH:COUNT` lines
    Hashes,
    /// One file per prefix, as the service answers it
    Folder,
    /// One password a line
    Plaintext,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EncodingArgument {
    /// UTF-8; other lines are skipped
    #[value(name = "utf8")]
    Utf8,
    /// ISO 8859-1; every line is text
    #[value(name = "latin1")]
    Latin1,
}

/// How counts of one digest from several inputs become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MergeArgument {
    /// Separate incidents: counts add up
    Sum,
    /// Versions of one source: the larger count wins
    Max,
    /// The later input wins
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
    /// What the job needs to know.
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

    /// Prints a report: one JSON object a line, or a sentence and the path.
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

/// Reads a number of bytes such as `512M`.
fn memory(text: &str) -> anyhow::Result<ByteSize> {
    let size: ByteSize = text.parse()?;
    if size < LEAST_MEMORY {
        bail!("sorting needs at least 1M");
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_has_a_least_memory() {
        assert_eq!(memory("16M").unwrap(), ByteSize::mib(16));
        for wrong in ["", "1T", "1", "1023K"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }
}
