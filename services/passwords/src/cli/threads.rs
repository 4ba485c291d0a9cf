//! How many threads a command works with.

use std::thread;

/// The processors that this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
