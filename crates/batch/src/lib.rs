#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod atomic_file;
mod input;
mod interval;
mod lines;
mod output;
mod progress;
mod sizes;

pub use atomic_file::{AtomicFile, copy_atomically, sync_folder, write_atomically};
pub use input::Input;
pub use interval::Interval;
pub use lines::{BoundedLines, Line, LineError};
pub use output::{Output, until_closed};
pub use progress::{ByteCounter, CountingReader, Progress, ProgressReporter, Unit};
pub use sizes::{ByteSize, Count, SizeError};
