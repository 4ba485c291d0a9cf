//! Dates in responses.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::schedule::{instant_from_seconds, wall_from_seconds};
use crate::model::zone::Zone;

/// The components of a date, as zero-padded strings.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = DateDetails)]
pub struct DateDetails {
    pub year: String,
    pub month: String,
    pub day: String,
    pub hour: String,
    pub minutes: String,
    pub seconds: String,
}

/// Formats a local time, given in seconds, as `YYYY-MM-DD HH:MM:SS`.
pub fn written(seconds: i64) -> String {
    let wall = wall_from_seconds(seconds);
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        wall.year(),
        wall.month(),
        wall.day(),
        wall.hour(),
        wall.minute(),
        wall.second()
    )
}

/// Splits a local time, given in seconds, into its date and time components.
pub fn details(seconds: i64) -> DateDetails {
    let wall = wall_from_seconds(seconds);
    DateDetails {
        year: format!("{:04}", wall.year()),
        month: format!("{:02}", wall.month()),
        day: format!("{:02}", wall.day()),
        hour: format!("{:02}", wall.hour()),
        minutes: format!("{:02}", wall.minute()),
        seconds: format!("{:02}", wall.second()),
    }
}

/// Formats an instant in the local time of `zone`.
pub fn written_in(zone: &Zone, utc: i64) -> String {
    written(crate::model::schedule::wall_seconds(zone.wall(instant_from_seconds(utc))))
}

/// Formats an instant in ISO 8601 with the UTC offset of `zone`.
pub fn iso(zone: &Zone, utc: i64) -> String {
    let at = instant_from_seconds(utc);
    let offset = zone.offset(at);
    let local = written_in(zone, utc).replace(' ', "T");
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60;
    format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}
