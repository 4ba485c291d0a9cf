//! Unwraps results with a message.

use std::fmt::Display;

/// Returns the value of a result, or panics with the error and a description of what was tried.
#[track_caller]
pub(crate) fn must<T, E: Display>(tried: &str, outcome: Result<T, E>) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("{tried}: {error}"),
    }
}
