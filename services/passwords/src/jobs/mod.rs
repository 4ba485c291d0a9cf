//! Building, merging, checking, inspecting and reloading corpora.

mod activate;
mod build;
mod chunks;
mod export;
mod first_bytes;
mod folder;
mod lookup;
mod merge;
mod mirror;
mod ordered;
mod partition;
mod prune;
mod read_ahead;
mod reading;
mod reload;
mod report;
mod sorted_runs;
mod source;
mod tally;
mod unordered;
mod verify;
mod worker_pool;

pub use activate::activate;
pub use build::Build;
pub use chunks::LINE_LIMIT;
pub use export::{export_folder, export_hashes, export_to_stdout};
pub use lookup::{Lookup, open_corpus};
pub use merge::Merge;
pub use mirror::{Mirror, Mirrored, Politeness, Upstream};
pub use prune::prune;
pub use reading::InputFormat;
pub use reload::{Reloader, watch};
pub use report::Built;
pub use source::{Lists, default_tmp};
pub use verify::{Findings, verify};
