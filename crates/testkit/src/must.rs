//! What a test cannot go on without.

use std::fmt::Display;

/// The value, or the end of the test with what was tried and why it failed.
#[track_caller]
pub(crate) fn must<T, E: Display>(tried: &str, outcome: Result<T, E>) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("{tried}: {error}"),
    }
}
