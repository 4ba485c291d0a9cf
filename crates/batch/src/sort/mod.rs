//! External sorting, in which sorted runs are written to disk and merged while reading.

mod keyed_text;
mod merge;
mod record;
mod run;
mod sorter;

pub use keyed_text::KeyedText;
pub use merge::Merge;
pub use record::{Record, Source};
pub use run::{Run, RunReader, RunWriter};
pub use sorter::{Sorted, Sorter};
