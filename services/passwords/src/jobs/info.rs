//! Shows what a corpus says about itself.

use std::fmt;
use std::path::PathBuf;

use batch::Output;
use serde::Serialize;

use crate::model::header::lower_hex;
use crate::store::Corpus;

/// Options of `info`.
#[derive(Clone, Debug, clap::Args)]
pub struct Info {
    /// Show as JSON
    #[arg(long)]
    pub json: bool,
    /// The corpus file
    pub file: PathBuf,
}

#[derive(Serialize)]
struct Facts {
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
    /// Prints the header.
    ///
    /// # Errors
    /// The file is no sound corpus.
    pub fn run(&self) -> anyhow::Result<()> {
        let corpus = Corpus::open(&self.file, 0)?;
        let header = corpus.header();
        let facts = Facts {
            kind: header.kind.name(),
            corpus_id: lower_hex(&header.corpus_id),
            entries: header.entries,
            bytes: header.file_length,
            built_at: jiff::Timestamp::from_second(header.built_at)?.to_string(),
            smallest_bucket: header.smallest_bucket,
            largest_bucket: header.largest_bucket,
            note: header.note.clone(),
        };
        Output::from_json_flag(self.json).print(&facts, &facts)?;
        Ok(())
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<12}{}", "kind", self.kind)?;
        writeln!(f, "{:<12}{}", "corpus id", self.corpus_id)?;
        writeln!(f, "{:<12}{}", "entries", self.entries)?;
        writeln!(f, "{:<12}{}", "bytes", self.bytes)?;
        writeln!(f, "{:<12}{}", "built at", self.built_at)?;
        writeln!(f, "{:<12}{} to {}", "bucket size", self.smallest_bucket, self.largest_bucket)?;
        write!(f, "{:<12}{}", "note", self.note)
    }
}
