#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod atomic_file;
mod backup;
mod bounded_reader;
mod file_kind;
mod input;
mod interval;
mod lines;
mod output;
mod overwrite;
mod page_permit;
mod progress;
mod sizes;
mod sort;
mod temporary_folder;

pub use atomic_file::{AtomicFile, copy_atomically, sync_folder, write_atomically};
pub use backup::{Backup, Restore, link_or_copy};
pub use bounded_reader::BoundedReader;
pub use file_kind::{ARCHIVE_START, refuse_archive};
pub use input::{Input, InputStamp};
pub use interval::Interval;
pub use lines::{BoundedLines, Line, LineError};
pub use output::{Output, until_closed};
pub use overwrite::refuse_overwriting;
pub use page_permit::{PagePermit, PagePermits};
pub use progress::{ByteCounter, CountingReader, Progress, ProgressReporter, Unit};
pub use sizes::{ByteSize, Count, SizeError};
pub use sort::{KeyedText, Merge, Record, Run, RunReader, RunWriter, Sorted, Sorter, Source};
pub use temporary_folder::TemporaryFolder;
