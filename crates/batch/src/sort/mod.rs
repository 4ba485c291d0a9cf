//! External sorting: writes sorted runs to disk, and merges them while reading.

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
