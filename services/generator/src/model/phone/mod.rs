//! Telephone numbers in 245 regions, generated from libphonenumber's numbering plans.

mod areas;
mod automaton;
mod fiction;
mod format;
mod patterns;
mod plan;
mod region;
mod validate;

pub use automaton::PatternError;
pub use fiction::regions as regions_with_fiction;
pub use format::Format;
pub use region::{Numbers, Region, all, find};
pub use validate::{Valid, Validation, validate};
