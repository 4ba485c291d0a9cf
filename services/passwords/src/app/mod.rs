//! Use cases: what is read for an answer, and whether the service can answer at all.

mod buffer;
mod ranges;
mod readiness;

pub use ranges::{Body, Padding, RangeReader};
pub use readiness::{note_failure, readiness};
