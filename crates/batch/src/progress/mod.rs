//! Reports progress: as a bar on a terminal, otherwise in occasional log lines.

mod counting;
mod measure;
mod reporter;

pub use counting::{ByteCounter, CountingReader};
pub use measure::{Progress, Unit};
pub use reporter::ProgressReporter;
