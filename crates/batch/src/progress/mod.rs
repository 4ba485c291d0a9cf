//! How far a command is: a bar on a terminal, a line now and then elsewhere.

mod counting;
mod measure;
mod reporter;

pub use counting::{ByteCounter, CountingReader};
pub use measure::{Progress, Unit};
pub use reporter::ProgressReporter;
