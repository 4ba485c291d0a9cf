//! What a mirror has made.

use std::path::PathBuf;

use serde::Serialize;

use crate::jobs::report::{CorpusFile, peak_memory};
use crate::model::Header;

/// What was asked for and what came.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Traffic {
    /// Ranges that an interrupted run had fetched.
    pub resumed: u32,
    /// Ranges that were sent.
    pub changed: u32,
    /// Ranges that the last mirror had already.
    pub unchanged: u32,
    /// Bytes of the ranges that were sent, as they were sent.
    pub received: u64,
    /// How often a range had to be asked for again.
    pub retries: u64,
}

/// A mirrored corpus.
#[derive(Debug, Serialize)]
pub struct Mirrored {
    /// Its file.
    #[serde(flatten)]
    pub file: CorpusFile,
    /// What it took.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// The most memory that the command ever took, in bytes, where the system tells it.
    pub peak_memory: Option<u64>,
    /// Whether `CURRENT` names it now.
    pub activated: bool,
}

impl Mirrored {
    /// Describes a finished mirror.
    pub fn new(path: PathBuf, header: &Header, traffic: Traffic, activated: bool) -> Self {
        let file = CorpusFile::new(path, header);
        Self { file, traffic, peak_memory: peak_memory(), activated }
    }
}
