//! The default number of threads.

use std::thread;

/// Returns how many processors this process can use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
