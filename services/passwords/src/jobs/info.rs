//! Shows what a corpus says about itself.

use std::io::Write;
use std::path::PathBuf;

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
        let mut out = std::io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&facts)?)?;
            return Ok(());
        }
        let smallest_largest = format!("{} to {}", facts.smallest_bucket, facts.largest_bucket);
        for (name, value) in [
            ("kind", facts.kind),
            ("corpus id", &facts.corpus_id),
            ("entries", &facts.entries.to_string()),
            ("bytes", &facts.bytes.to_string()),
            ("built at", &facts.built_at),
            ("bucket size", &smallest_largest),
            ("note", &facts.note),
        ] {
            writeln!(out, "{name:<12}{value}")?;
        }
        Ok(())
    }
}
