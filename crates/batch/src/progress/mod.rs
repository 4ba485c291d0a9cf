//! Reports progress, as a bar on a terminal and as occasional log lines elsewhere.

mod counting;
mod measure;
mod reporter;

pub use counting::{ByteCounter, CountingReader};
pub use measure::{Progress, Unit};
pub use reporter::ProgressReporter;
