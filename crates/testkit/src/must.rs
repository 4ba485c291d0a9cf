//! Unwraps results with a message.

use std::fmt::Display;

/// Returns the result's value, or panics with a description of the attempt and the error.
#[track_caller]
pub(crate) fn must<T, E: Display>(tried: &str, outcome: Result<T, E>) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("{tried}: {error}"),
    }
}
