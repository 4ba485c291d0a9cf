//! The default number of threads.

use std::thread;

/// Returns the number of processors available to this process.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
