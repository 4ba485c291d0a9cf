//! Returns freed memory to the system: long buffers right away, and everything else after a peak.
//!
//! glibc's allocator holds on to freed memory for later use. This is useful between two requests,
//! but after two hundred hostile connections, the process would keep their memory forever.
//! Moreover, each thread holds on to memory separately, which adds up if buffers are several
//! megabytes long.
#![cfg_attr(all(target_os = "linux", target_env = "gnu"), allow(unsafe_code))]

use std::time::Duration;

use crate::connection::{self, Load};

const PAUSE: Duration = Duration::from_secs(2);
/// Minimum load that counts as a peak, either by connections or by bytes in memory.
const PEAK: Load = Load { connections: 64, bytes: 8 << 20 };

/// The maximum load since we last returned memory to the system.
#[derive(Default)]
struct Peak(Load);

impl Peak {
    /// Records the current load. Returns true once for each peak, when the load has dropped to a
    /// quarter of it.
    fn has_ended(&mut self, now: Load) -> bool {
        let most = &mut self.0;
        most.connections = most.connections.max(now.connections);
        most.bytes = most.bytes.max(now.bytes);
        let was_peak = most.connections >= PEAK.connections || most.bytes >= PEAK.bytes;
        let ended = now.connections <= most.connections / 4 && now.bytes <= most.bytes / 4;
        if was_peak && ended {
            self.0 = now;
            return true;
        }
        false
    }
}

/// Returns memory to the system after each peak. Runs as long as the server.
pub(crate) async fn trim_after_peaks() {
    let mut peak = Peak::default();
    loop {
        tokio::time::sleep(PAUSE).await;
        if peak.has_ended(connection::load()) && tokio::task::spawn_blocking(trim).await.is_err() {
            log::debug!("freed memory was not returned to the system");
        }
    }
}

/// Gives every long buffer its own mapping, so that its memory is returned to the system as soon as
/// the buffer is freed.
///
/// By default, glibc raises the threshold for this to the size of the largest buffer freed so far,
/// up to 32 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn map_long_buffers_separately() {
    const LONG: libc::c_int = 512 << 10;
    // SAFETY: the function takes two numbers and changes the allocator's parameters under its lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LONG);
        // glibc also keeps this threshold at twice the other one.
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * LONG);
    }
}

/// Makes all of a command's threads share two arenas. By default, each thread gets its own arena,
/// which holds on to the memory that the thread has freed. As a result, loading four million files
/// took 730 MiB instead of 490.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share_arenas() {
    // SAFETY: the function takes two numbers and changes the allocator's parameters under its lock.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 2) };
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: the function takes a number, locks each arena while working on it, and doesn't touch
    // allocated memory.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn map_long_buffers_separately() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_arenas() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn long_buffers_of_many_threads_are_returned_when_freed() {
        const THREADS: usize = 12;
        const BUFFER: usize = 4 << 20;
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        map_long_buffers_separately();
        // After this, the allocator would by default hold on to freed buffers of up to this size.
        drop(std::hint::black_box(vec![1_u8; 4 * BUFFER]));
        let together = std::sync::Barrier::new(THREADS + 1);
        let (before, after) = std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    together.wait();
                    drop(std::hint::black_box(vec![1_u8; BUFFER]));
                    together.wait();
                    together.wait();
                });
            }
            let before = resident();
            together.wait();
            together.wait();
            let after = resident();
            together.wait();
            (before, after)
        });
        let kept = after.saturating_sub(before);
        assert!(kept < THREADS * BUFFER / 3, "{kept} bytes are still resident");
    }

    fn load(connections: usize, bytes: usize) -> Load {
        Load { connections, bytes }
    }

    #[test]
    fn the_end_of_a_peak_is_noticed_once() {
        let mut peak = Peak::default();
        assert!(!peak.has_ended(load(200, 0)));
        assert!(!peak.has_ended(load(51, 0)));
        assert!(peak.has_ended(load(50, 0)));
        assert!(!peak.has_ended(load(0, 0)));
    }

    #[test]
    fn one_connection_that_held_much_memory_is_a_peak() {
        let mut peak = Peak::default();
        assert!(!peak.has_ended(load(1, 32 << 20)));
        assert!(!peak.has_ended(load(1, 0)));
        assert!(peak.has_ended(load(0, 0)));
    }

    #[test]
    fn a_few_connections_are_not_a_peak() {
        let mut peak = Peak::default();
        for connections in [1, 63, 0, 63, 0] {
            assert!(!peak.has_ended(load(connections, 1 << 20)));
        }
    }
}
