//! Checks `deploy/systemd`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::process::Command;

use super::{SERVICES, read, root, settings};

const UNIT: &str = "deploy/systemd/quintet@.service";

/// Returns all values of a directive, in order.
fn values<'a>(unit: &'a str, directive: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(directive)?.strip_prefix('=')).collect()
}

#[test]
fn the_unit_sets_what_every_service_knows() {
    let unit = read(UNIT);
    let environment: BTreeMap<String, Option<String>> = values(&unit, "Environment")
        .into_iter()
        .flat_map(str::split_whitespace)
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
        .collect();
    assert!(environment.contains_key("DATA_DIR"));
    for &service in SERVICES.iter() {
        settings::check(UNIT, service, &environment);
    }
}

#[test]
fn unit_is_killed_only_after_requests_could_finish() {
    let unit = read(UNIT);
    let shutdown = settings::defaults().shutdown_timeout;
    let stop: u64 = values(&unit, "TimeoutStopSec")[0].parse().unwrap();
    // The server stops at most 5 s after SHUTDOWN_TIMEOUT. DRAIN_SECONDS is 0 by default.
    assert!(stop >= shutdown + 5 + 5, "{stop}");
}

/// Otherwise a wrong setting would restart the service every two seconds forever, and a long
/// migration would be interrupted and begin again.
#[test]
fn wrong_settings_and_long_migrations_do_not_cause_restarts() {
    let unit = read(UNIT);
    assert_eq!(values(&unit, "RestartPreventExitStatus"), ["2"]);
    assert_eq!(values(&unit, "TimeoutStartSec"), ["1h"]);
}

#[test]
fn the_socket_of_the_handbook_is_in_a_folder_that_the_unit_creates() {
    let folder = values(&read(UNIT), "RuntimeDirectory")[0].replace("%i", "calendar");
    assert!(read("docs/operations.md").contains(&format!("`BIND=unix:/run/{folder}/")));
}

/// With `DynamicUser`, systemd denies access to the folder to units that do not name it.
#[test]
fn commands_of_the_operator_name_the_folder_of_the_unit() {
    let unit = read(UNIT);
    let folder = values(&unit, "StateDirectory")[0].replace("%i", "calendar");
    for property in ["DynamicUser=yes".to_owned(), format!("StateDirectory={folder}")] {
        assert!(unit.contains(&format!("--property={property} ")), "{property}");
    }
}

/// Checks the security score that systemd computes, from 0 (locked down) to 100 (open), if systemd
/// is installed.
#[test]
fn the_unit_is_locked_down() {
    let mut rating = Command::new("systemd-analyze");
    rating.args(["security", "--offline=true", "--threshold=20"]).arg(root().join(UNIT));
    match rating.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{error}"),
    }
}
