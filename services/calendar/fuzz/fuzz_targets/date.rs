//! The date parser never panics, and every accepted text resolves or fails cleanly in every zone.
#![no_main]

use calendar::{When, Zone};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, &str, i64)| {
    let (text, zone, now) = data;
    let zone = Zone::parse(zone).unwrap_or_else(Zone::utc);
    let now =
        Timestamp::from_second(now.rem_euclid(8_000_000_000)).unwrap_or(Timestamp::UNIX_EPOCH);
    let Ok(when) = When::parse(text) else { return };
    if let Ok(moment) = when.resolve(&zone, now) {
        let _ = moment.wall(&zone);
    }
    let _ = when.day(&zone, now);
});
