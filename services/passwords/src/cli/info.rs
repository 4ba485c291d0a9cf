//! The `info` subcommand.

use std::fmt;
use std::path::PathBuf;

use batch::Output;
use serde::Serialize;

use crate::model::{Header, lower_hex};
use crate::store::Corpus;

/// Options of `info`.
#[derive(Clone, Debug, clap::Args)]
pub struct Info {
    /// Print the header as JSON
    #[arg(long)]
    json: bool,
    /// Corpus file to read
    file: PathBuf,
}

#[derive(Serialize)]
struct Description {
    kind: &'static str,
    corpus_id: String,
    entries: u64,
    bytes: u64,
    built_at: String,
    smallest_bucket: u32,
    largest_bucket: u32,
    note: String,
}

impl Info {
    /// Prints the corpus header.
    pub fn run(&self) -> anyhow::Result<()> {
        let corpus = Corpus::open(&self.file, 0)?;
        let description = Description::of(corpus.header())?;
        Ok(Output::from_json_flag(self.json).print(&description, &description)?)
    }
}

impl Description {
    fn of(header: &Header) -> anyhow::Result<Self> {
        Ok(Self {
            kind: header.kind.name(),
            corpus_id: lower_hex(&header.corpus_id),
            entries: header.entries,
            bytes: header.file_length,
            built_at: jiff::Timestamp::from_second(header.built_at)?.to_string(),
            smallest_bucket: header.smallest_bucket,
            largest_bucket: header.largest_bucket,
            note: header.note.clone(),
        })
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<12}{}", "kind", self.kind)?;
        writeln!(f, "{:<12}{}", "corpus id", self.corpus_id)?;
        writeln!(f, "{:<12}{}", "entries", self.entries)?;
        writeln!(f, "{:<12}{}", "bytes", self.bytes)?;
        writeln!(f, "{:<12}{}", "built at", self.built_at)?;
        let sizes = (self.smallest_bucket, self.largest_bucket);
        writeln!(f, "{:<12}{} to {}", "bucket size", sizes.0, sizes.1)?;
        write!(f, "{:<12}{}", "note", self.note)
    }
}
