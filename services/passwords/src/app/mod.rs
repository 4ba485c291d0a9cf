//! The use cases: reading a range and checking readiness.

mod buffer;
mod ranges;
mod readiness;

pub use ranges::{Body, Padding, RangeReader};
pub use readiness::{note_failure, readiness};
