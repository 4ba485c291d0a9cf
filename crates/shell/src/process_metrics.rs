//! Process metrics, read from `/proc` and named as in Prometheus client libraries.
//!
//! The `prometheus` crate can collect them, too, but it rounds CPU time to whole seconds and
//! requires additional dependencies.

use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Clock ticks per second in `/proc`. The same on all Linux systems.
const TICKS: f64 = 100.0;

/// When the server started, according to this process.
static STARTED: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);

/// Records that the server is starting.
pub(crate) fn note_start() {
    LazyLock::force(&STARTED);
}

/// Returns the metrics in the Prometheus text format, leaving out any that can't be read.
pub(crate) fn render() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut text = String::new();
    let mut add = |name: &str, kind: &str, help: &str, value: Option<f64>| {
        if let Some(value) = value {
            // Writing to a string can't fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
    };
    add(
        "process_cpu_seconds_total",
        "counter",
        "Total user and system CPU time spent in seconds.",
        cpu_seconds(&stat),
    );
    add(
        "process_max_fds",
        "gauge",
        "Maximum number of open file descriptors.",
        rlimit::Resource::NOFILE.get_soft().ok().map(|limit| limit as f64),
    );
    add("process_open_fds", "gauge", "Number of open file descriptors.", open_files());
    add(
        "process_resident_memory_bytes",
        "gauge",
        "Resident memory size in bytes.",
        status_field(&status, "VmRSS:").map(|kibibytes| kibibytes * 1_024.0),
    );
    add(
        "process_start_time_seconds",
        "gauge",
        "Start time of the process since Unix epoch in seconds.",
        start_time(&stat),
    );
    add(
        "process_threads",
        "gauge",
        "Number of OS threads in the process.",
        status_field(&status, "Threads:"),
    );
    add(
        "process_virtual_memory_bytes",
        "gauge",
        "Virtual memory size in bytes.",
        status_field(&status, "VmSize:").map(|kibibytes| kibibytes * 1_024.0),
    );
    text
}

/// Returns a field of `/proc/self/stat`. Fields are numbered from 1, as in proc(5).
fn stat_field(stat: &str, number: usize) -> Option<f64> {
    // The second field is a name in parentheses, which can contain anything.
    let fields = stat.rsplit_once(')')?.1;
    fields.split_ascii_whitespace().nth(number - 3)?.parse().ok()
}

/// Returns the number that follows `label` in `/proc/self/status`.
fn status_field(status: &str, label: &str) -> Option<f64> {
    let values = status.lines().find_map(|line| line.strip_prefix(label))?;
    values.split_ascii_whitespace().next()?.parse().ok()
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((stat_field(stat, 14)? + stat_field(stat, 15)?) / TICKS)
}

fn start_time(stat: &str) -> Option<f64> {
    static BOOT: LazyLock<Option<f64>> = LazyLock::new(|| {
        let system = fs::read_to_string("/proc/stat").ok()?;
        status_field(&system, "btime ")
    });
    start_time_since(*BOOT, stat)
}

/// Returns the start time, given when the system booted. If that is hidden, as by `ProcSubset=pid`
/// in a systemd unit, returns the time that the server recorded.
fn start_time_since(boot: Option<f64>, stat: &str) -> Option<f64> {
    match boot {
        Some(boot) => Some(boot + stat_field(stat, 22)? / TICKS),
        None => STARTED.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64()),
    }
}

fn open_files() -> Option<f64> {
    // One of the entries is for reading the folder itself.
    Some((fs::read_dir("/proc/self/fd").ok()?.count() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<(String, f64)> {
        let text = render();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| {
                let (name, value) = line.split_once(' ').unwrap();
                (name.to_owned(), value.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn process_metrics_are_plausible() {
        let value = |name: &str| values().iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(values().len(), 7);
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_open_fds") < value("process_max_fds"));
        assert!(value("process_resident_memory_bytes") > 1e5);
        assert!(value("process_resident_memory_bytes") < value("process_virtual_memory_bytes"));
        assert!(value("process_threads") >= 1.0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let age = now.as_secs_f64() - value("process_start_time_seconds");
        assert!((-5.0..86_400.0).contains(&age), "{age}");
    }

    #[test]
    fn start_time_is_known_and_constant_if_the_boot_time_is_hidden() {
        note_start();
        let started = start_time_since(None, "").unwrap();
        assert!(started > 1e9, "{started}");
        assert_eq!(start_time_since(None, ""), Some(started));
    }

    #[test]
    fn processor_time_has_fractions() {
        let seconds = || values()[0].1;
        // Rendering itself takes some CPU time.
        assert!((0..1_000_000).any(|_| seconds().fract() > 0.0));
    }

    #[test]
    fn fields_are_counted_from_the_end_of_the_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 3 0 1000 8192 2";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(stat_field(stat, 20), Some(3.0));
        assert_eq!(stat_field(stat, 22), Some(1000.0));
        assert_eq!(stat_field("7 (a", 14), None);
    }
}
