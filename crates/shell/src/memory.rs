//! Gives memory back to the system once a crowd of connections has left.
//!
//! The allocator of glibc keeps what was freed for later requests. That is right between two requests,
//! and wrong after two hundred hostile connections: the process would keep their memory for ever.
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

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    // SAFETY: the function takes a number, locks each arena while it works on it, and touches nothing
    // that is allocated.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;

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
