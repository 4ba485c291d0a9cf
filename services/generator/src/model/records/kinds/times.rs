//! Dates, times and timestamps.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use crate::model::digits::push_padded;
use crate::model::random::Random;
use crate::model::records::cell::Cell;
use crate::model::records::dates::{DAY, date, date_after, days, instant, time};
use crate::model::records::fault::Faults;
use crate::model::records::field::{Make, Row};
use crate::model::records::members::Members;

/// The unit of the numbers, and the format in which they are written.
enum Form {
    /// Days, written as dates.
    Date,
    /// Seconds since midnight, written as times.
    Time,
    /// Unix seconds, written as timestamps with the offset of a time zone.
    Instant(TimeZone),
}

/// Evenly spaced days or seconds in a range.
struct Steps {
    first: i64,
    step: i64,
    count: u64,
    form: Form,
}

impl Make for Steps {
    fn write(&self, _: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        self.write_nth(random.below(self.count), row, cell);
    }

    fn space(&self) -> Option<u64> {
        Some(self.count)
    }

    fn write_nth(&self, nth: u64, _: &mut Row, cell: &mut Cell) {
        let at = self.first.saturating_add(self.step.saturating_mul(nth as i64));
        let out = cell.begin();
        match &self.form {
            Form::Date => match date_after(at) {
                Some(date) => push_date(date.year(), date.month(), date.day(), out),
                None => cell.set_null(),
            },
            Form::Time => push_time(at / 3_600, at / 60 % 60, at % 60, out),
            Form::Instant(zone) => {
                let Ok(instant) = Timestamp::from_second(at) else { return cell.set_null() };
                // RFC 3339 offsets don't have seconds, although local time did before standard time
                // was introduced.
                let offset = whole_minutes(zone.to_offset(instant));
                let local = offset.to_datetime(instant);
                push_date(local.year(), local.month(), local.day(), out);
                out.push('T');
                let clock = (local.hour(), local.minute(), local.second());
                push_time(i64::from(clock.0), i64::from(clock.1), i64::from(clock.2), out);
                push_offset(offset.seconds(), out);
            }
        }
    }
}

fn whole_minutes(offset: Offset) -> Offset {
    let minutes = offset.seconds() / 60;
    Offset::from_seconds(minutes * 60).unwrap_or(offset)
}

pub(super) fn push_date(year: i16, month: i8, day: i8, out: &mut String) {
    push_padded(year.unsigned_abs().into(), 4, out);
    out.push('-');
    push_padded(month.unsigned_abs().into(), 2, out);
    out.push('-');
    push_padded(day.unsigned_abs().into(), 2, out);
}

fn push_time(hour: i64, minute: i64, second: i64, out: &mut String) {
    push_padded(hour.unsigned_abs(), 2, out);
    out.push(':');
    push_padded(minute.unsigned_abs(), 2, out);
    out.push(':');
    push_padded(second.unsigned_abs(), 2, out);
}

fn push_offset(seconds: i32, out: &mut String) {
    if seconds == 0 {
        return out.push('Z');
    }
    out.push(if seconds < 0 { '-' } else { '+' });
    let minutes = u64::from(seconds.unsigned_abs() / 60);
    push_padded(minutes / 60, 2, out);
    out.push(':');
    push_padded(minutes % 60, 2, out);
}

/// Reads `min` and `max`. `read` parses them, and `what` describes valid values in the error
/// message.
fn bounds(
    members: &mut Members<'_>,
    what: &str,
    (least, most): (i64, i64),
    faults: &mut Faults,
    read: impl Fn(&str) -> Option<i64>,
) -> (i64, i64) {
    let mut bound = |name, default| {
        let Some(text) = members.text(name, faults) else { return default };
        read(text).unwrap_or_else(|| {
            faults.add(members.at(name), format!("must be {what}"));
            default
        })
    };
    (bound("min", least), bound("max", most))
}

fn steps(
    members: &Members<'_>,
    (first, last): (i64, i64),
    step: i64,
    form: Form,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    if first > last {
        faults.add(members.at("max"), "must not be before min");
        return None;
    }
    Some(Box::new(Steps { first, step, count: (last.abs_diff(first) / step as u64) + 1, form }))
}

/// Reads the type `date`: `min` (thirty years before `day`), `max` (`day`) and `step` in days (1).
pub fn dates(
    members: &mut Members<'_>,
    day: jiff::civil::Date,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    let usual = (days(day) - 30 * 365, days(day));
    let read = |text: &str| {
        let date = date(text).filter(|date| (0..=9_999).contains(&date.year()))?;
        Some(days(date))
    };
    let bounds = bounds(members, "a date such as 2027-03-14", usual, faults, read);
    let step = members.integer("step", 1, (1, 36_500), faults);
    steps(members, bounds, step, Form::Date, faults)
}

/// Reads the type `time`: `min` (00:00:00), `max` (23:59:59) and `step` in seconds (1).
pub fn times(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let bounds = bounds(members, "a time such as 08:30", (0, DAY - 1), faults, time);
    let step = members.integer("step", 1, (1, DAY), faults);
    steps(members, bounds, step, Form::Time, faults)
}

/// Reads the type `timestamp`: `zone` (UTC), `min` (a year before `day`), `max` (`day`) and `step`
/// in seconds (1).
pub fn timestamps(
    members: &mut Members<'_>,
    day: jiff::civil::Date,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    let zone = match members.text("zone", faults) {
        None => TimeZone::UTC,
        Some(name) => TimeZone::get(name).unwrap_or_else(|_| {
            faults.add(
                members.at("zone"),
                "must be a zone in the IANA database, such as Europe/Paris",
            );
            TimeZone::UTC
        }),
    };
    let usual = ((days(day) - 365) * DAY, days(day) * DAY);
    let least = instant("0000-01-02", &TimeZone::UTC).unwrap_or(0);
    let most = instant("9999-12-30", &TimeZone::UTC).unwrap_or(0);
    let read = |text: &str| instant(text, &zone).filter(|second| (least..=most).contains(second));
    let what = "an instant such as 2027-03-14T09:00:00Z or a local 2027-03-14";
    let bounds = bounds(members, what, usual, faults, read);
    let step = members.integer("step", 1, (1, 366 * DAY), faults);
    steps(members, bounds, step, Form::Instant(zone.clone()), faults)
}
