//! The report of a mirror.

use std::path::PathBuf;

use serde::Serialize;

use crate::jobs::report::{CorpusFile, peak_memory};
use crate::model::Header;

/// The number of ranges and bytes that were fetched.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Traffic {
    /// The number of ranges fetched by an interrupted run.
    pub resumed: u32,
    /// The number of ranges fetched in full.
    pub changed: u32,
    /// The number of ranges unchanged since the last mirror.
    pub unchanged: u32,
    /// The number of bytes received for fetched ranges, as transferred.
    pub received: u64,
    /// The number of retries.
    pub retries: u64,
}

/// A mirrored corpus.
#[derive(Debug, Serialize)]
pub struct Mirrored {
    /// Its file.
    #[serde(flatten)]
    pub file: CorpusFile,
    /// The traffic.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Peak memory of the process in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Whether `CURRENT` refers to this corpus.
    pub activated: bool,
}

impl Mirrored {
    /// Describes a finished mirror.
    pub fn new(path: PathBuf, header: &Header, traffic: Traffic, activated: bool) -> Self {
        let file = CorpusFile::new(path, header);
        Self { file, traffic, peak_memory: peak_memory(), activated }
    }
}
