//! Gives memory back to the system: long buffers at once, the rest when a crowd of connections has left.
//!
//! The allocator of glibc keeps what was freed for later requests. That is right between two requests,
//! and wrong after two hundred hostile connections: the process would keep their memory for ever. It
//! also keeps a share for each of many threads, which is wrong for buffers of megabytes.
#![cfg_attr(all(target_os = "linux", target_env = "gnu"), allow(unsafe_code))]

use std::time::Duration;

use crate::connection::{self, Load};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_secs(2);
/// A crowd: so many connections at a time, or so many bytes held for their clients.
const CROWD: Load = Load { connections: 64, bytes: 8 << 20 };

/// The most that was seen since memory was given back last.
#[derive(Default)]
struct Crowd(Load);

impl Crowd {
    /// Notes a moment; whether a crowd has left since the last time that this was true.
    fn has_left(&mut self, now: Load) -> bool {
        let most = &mut self.0;
        most.connections = most.connections.max(now.connections);
        most.bytes = most.bytes.max(now.bytes);
        let was_crowd = most.connections >= CROWD.connections || most.bytes >= CROWD.bytes;
        let left = now.connections <= most.connections / 4 && now.bytes <= most.bytes / 4;
        if was_crowd && left {
            self.0 = now;
            return true;
        }
        false
    }
}

/// Watches for as long as the process serves.
pub(crate) async fn give_back_after_crowds() {
    let mut crowd = Crowd::default();
    loop {
        tokio::time::sleep(PAUSE).await;
        if crowd.has_left(connection::load())
            && tokio::task::spawn_blocking(give_back).await.is_err()
        {
            log::debug!("freed memory was not given back");
        }
    }
}

/// Gives every long buffer pages of its own, which go back to the system when it is freed.
///
/// Left to itself, glibc raises the length from which it does so to that of the longest buffer that was
/// ever freed, up to 32 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn set_long_buffers_apart() {
    const LONG: libc::c_int = 512 << 10;
    // SAFETY: the function takes two numbers and changes parameters of the allocator under its lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LONG);
        // Twice as much, as glibc itself has it.
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * LONG);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    // SAFETY: the function takes a number, locks each arena while it works on it, and touches nothing
    // that is allocated.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn set_long_buffers_apart() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn long_buffers_of_many_threads_go_back_when_they_are_freed() {
        const THREADS: usize = 12;
        const BUFFER: usize = 4 << 20;
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        set_long_buffers_apart();
        // Without it this makes the allocator keep all that is not longer.
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
        assert!(kept < THREADS * BUFFER / 3, "{kept} bytes are kept");
    }

    fn load(connections: usize, bytes: usize) -> Load {
        Load { connections, bytes }
    }

    #[test]
    fn a_crowd_that_left_is_noticed_once() {
        let mut crowd = Crowd::default();
        assert!(!crowd.has_left(load(200, 0)));
        assert!(!crowd.has_left(load(51, 0)));
        assert!(crowd.has_left(load(50, 0)));
        assert!(!crowd.has_left(load(0, 0)));
    }

    #[test]
    fn one_connection_that_held_much_is_a_crowd() {
        let mut crowd = Crowd::default();
        assert!(!crowd.has_left(load(1, 32 << 20)));
        assert!(!crowd.has_left(load(1, 0)));
        assert!(crowd.has_left(load(0, 0)));
    }

    #[test]
    fn a_few_connections_that_come_and_go_are_none() {
        let mut crowd = Crowd::default();
        for connections in [1, 63, 0, 63, 0] {
            assert!(!crowd.has_left(load(connections, 1 << 20)));
        }
    }
}
