//! The maximum number of connections, and the open file limit that it requires.

use anyhow::bail;

use crate::ShellSettings;

/// Number of file descriptors reserved for files, databases and the admin port.
const SPARE_DESCRIPTORS: u64 = 256;
/// Minimum number of file descriptors that must be left for files, databases, the admin port and
/// connections.
const FEWEST_DESCRIPTORS: u64 = 64;
/// Number of file descriptors per event loop, i.e. per thread.
const DESCRIPTORS_OF_A_THREAD: u64 = 4;
/// Maximum number of file descriptors that the main thread's runtime uses.
pub(crate) const DESCRIPTORS_OF_THE_RUNTIME: u64 = 8;

/// Raises the open file limit as far as possible, and returns it.
///
/// # Errors
/// Returns an error if the limit is too low for the server's threads plus `more` files.
pub(crate) fn open_files(workers: usize, more: u64) -> anyhow::Result<u64> {
    let limit = rlimit::increase_nofile_limit(u64::MAX).unwrap_or_else(|error| {
        log::warn!("the limit of open files cannot be raised: {error}");
        1024
    });
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as u64;
    // The admin port and the two listener threads have event loops, too.
    let threads = DESCRIPTORS_OF_A_THREAD * (workers as u64 + 3);
    let needed = open + more + threads + FEWEST_DESCRIPTORS;
    if limit < needed {
        bail!(
            "the limit of open files is {limit} (ulimit -n), but a server with WORKERS={workers} needs \
             at least {needed}"
        );
    }
    Ok(limit)
}

/// Returns the maximum number of connections: `MAX_CONNECTIONS`, unless the open file limit is too
/// low for that.
pub(crate) fn connections(settings: &ShellSettings, limit: u64) -> usize {
    let wanted = u64::from(settings.max_connections);
    let room = limit.saturating_sub(SPARE_DESCRIPTORS).max(limit / 2).max(1);
    if wanted > room {
        log::warn!("connections are limited to {room}: only {limit} files may be open (ulimit -n)");
    }
    usize::try_from(wanted.min(room)).unwrap_or(usize::MAX)
}

/// Returns `MAX_CONNECTIONS_PER_ADDRESS` or its default, an eighth of the server's `connections`.
/// The default lets a single address use all connections of a small server.
pub(crate) fn connections_per_address(settings: &ShellSettings, connections: usize) -> u32 {
    const LEAST: u32 = 64;
    let share = || u32::try_from(connections / 8).unwrap_or(u32::MAX).max(LEAST);
    settings.max_connections_per_address.unwrap_or_else(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_an_eighth_of_the_connections_that_the_open_file_limit_allows() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = ShellSettings::for_tests(folder.path());
        for (limit, total, share) in [(1_000_000, 8192, 1024), (1024, 768, 96), (300, 150, 64)] {
            assert_eq!(connections(&settings, limit), total);
            assert_eq!(connections_per_address(&settings, total), share);
        }
        settings.max_connections_per_address = Some(500);
        assert_eq!(connections_per_address(&settings, 768), 500);
    }
}
