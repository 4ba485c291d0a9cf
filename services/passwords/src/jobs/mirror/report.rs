//! The report on a mirror.

use std::path::PathBuf;

use serde::Serialize;

use crate::jobs::report::{CorpusFile, peak_memory};
use crate::model::Header;

/// How many ranges and bytes were fetched.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Traffic {
    /// Ranges fetched by an interrupted run.
    pub resumed: u32,
    /// Ranges fetched in full.
    pub changed: u32,
    /// Ranges that haven't changed since the last mirror.
    pub unchanged: u32,
    /// Bytes received for fetched ranges, as transferred.
    pub received: u64,
    /// The number of retries.
    pub retries: u64,
}

/// The report on one mirrored corpus.
#[derive(Debug, Serialize)]
pub struct Mirrored {
    /// The corpus file.
    #[serde(flatten)]
    pub file: CorpusFile,
    /// The network traffic.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// The process's peak memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Whether `CURRENT` points to this corpus.
    pub activated: bool,
}

impl Mirrored {
    /// Describes a finished mirror.
    pub fn new(path: PathBuf, header: &Header, traffic: Traffic, activated: bool) -> Self {
        let file = CorpusFile::new(path, header);
        Self { file, traffic, peak_memory: peak_memory(), activated }
    }
}
