//! Moves a whole calendar to another server, possibly with a different database system.

mod export;
mod format;
mod load;
mod unfinished;

pub use export::export;
pub use format::is_export;
pub use load::{LoadedExport, gather_statistics, load_export, load_export_file, verify_export};
pub use unfinished::require_finished;
