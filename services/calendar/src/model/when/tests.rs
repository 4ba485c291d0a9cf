use jiff::Timestamp;

use super::{NotADate, When};
use crate::model::zone::Zone;

fn vienna() -> Zone {
    Zone::parse("Europe/Vienna").unwrap()
}

/// Wednesday, 2027-03-10 14:30:00 in Vienna.
fn now() -> Timestamp {
    "2027-03-10T13:30:00Z".parse().unwrap()
}

fn wall(text: &str) -> String {
    let zone = vienna();
    let when = When::parse(text).unwrap_or_else(|_| panic!("{text} is refused"));
    let wall = when.resolve(&zone, now()).and_then(|point| point.wall(&zone)).unwrap();
    wall.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[test]
fn every_form_of_the_grammar_parses() {
    for (text, expected) in [
        ("2027-03-01", "2027-03-01 00:00:00"),
        ("2027/03/01", "2027-03-01 00:00:00"),
        ("03/01/2027", "2027-03-01 00:00:00"),
        ("01-03-2027", "2027-03-01 00:00:00"),
        ("01.03.2027", "2027-03-01 00:00:00"),
        ("20270301", "2027-03-01 00:00:00"),
        ("20270301T190000", "2027-03-01 19:00:00"),
        ("20270301T1930", "2027-03-01 19:30:00"),
        ("20270301T190000Z", "2027-03-01 20:00:00"),
        ("2027-03-01 24:00", "2027-03-02 00:00:00"),
        ("2027-02-28T24:00:00", "2027-03-01 00:00:00"),
        ("2027-03-01 7:30 p.m.", "2027-03-01 19:30:00"),
        ("March 1, 2027 7:30p.m.", "2027-03-01 19:30:00"),
        ("2027-03-01 12 a.m.", "2027-03-01 00:00:00"),
        ("March 1, 2027", "2027-03-01 00:00:00"),
        ("1 March 2027", "2027-03-01 00:00:00"),
        ("1 Mar 2027", "2027-03-01 00:00:00"),
        ("Mar 2027", "2027-03-01 00:00:00"),
        ("2027-03-01 19:00", "2027-03-01 19:00:00"),
        ("2027-03-01T19:00:30", "2027-03-01 19:00:30"),
        ("2027-03-01 19:00:30.123", "2027-03-01 19:00:30"),
        ("2027-03-01 9am", "2027-03-01 09:00:00"),
        ("2027-03-01 1pm", "2027-03-01 13:00:00"),
        ("2027-03-01 1:30 pm", "2027-03-01 13:30:00"),
        ("2027-03-01 12am", "2027-03-01 00:00:00"),
        ("2027-03-01 noon", "2027-03-01 12:00:00"),
        ("2027-03-01 midnight", "2027-03-01 00:00:00"),
        ("2027-03-01T19:00:00Z", "2027-03-01 20:00:00"),
        ("2027-03-01T19:00:00+02:00", "2027-03-01 18:00:00"),
        ("2027-03-01 19:00 -0500", "2027-03-02 01:00:00"),
        ("2027-03-01 19:00 UTC", "2027-03-01 20:00:00"),
        ("2027-03-01 19:00 america/new_york", "2027-03-02 01:00:00"),
        ("1803927600", "2027-03-01 20:00:00"),
        ("@1803927600", "2027-03-01 20:00:00"),
        ("0", "1970-01-01 01:00:00"),
        ("now", "2027-03-10 14:30:00"),
        ("today", "2027-03-10 00:00:00"),
        ("midnight", "2027-03-10 00:00:00"),
        ("noon", "2027-03-10 12:00:00"),
        ("tomorrow", "2027-03-11 00:00:00"),
        ("Tomorrow 9am", "2027-03-11 09:00:00"),
        ("yesterday noon", "2027-03-09 12:00:00"),
        ("now 18:00", "2027-03-10 18:00:00"),
        ("+3 days", "2027-03-13 14:30:00"),
        ("+3 days 19:00", "2027-03-13 19:00:00"),
        ("-2 hours", "2027-03-10 12:30:00"),
        ("2 weeks ago", "2027-02-24 14:30:00"),
        ("+1 week 2 hours", "2027-03-17 16:30:00"),
        ("1 week 2 days ago", "2027-03-01 14:30:00"),
        ("tomorrow 2 hours ago", "2027-03-10 22:00:00"),
        ("yesterday 1 week 2 hours ago", "2027-03-01 22:00:00"),
        ("next week 1 day ago", "2027-03-16 14:30:00"),
        ("2 days ago 3 hours ago", "2027-03-08 11:30:00"),
        ("first day of next month 1 day ago", "2027-03-31 14:30:00"),
        ("+3 weekdays", "2027-03-15 14:30:00"),
        ("-3 weekdays", "2027-03-05 14:30:00"),
        ("+1 fortnight", "2027-03-24 14:30:00"),
        ("+1 month", "2027-04-10 14:30:00"),
        ("+1 year", "2028-03-10 14:30:00"),
        ("next week", "2027-03-17 14:30:00"),
        ("last month", "2027-02-10 14:30:00"),
        ("this week", "2027-03-10 14:30:00"),
        ("next wednesday 5pm", "2027-03-17 17:00:00"),
        ("this wednesday", "2027-03-10 00:00:00"),
        ("last wednesday", "2027-03-03 00:00:00"),
        ("monday", "2027-03-15 00:00:00"),
        ("first day of next month", "2027-04-01 14:30:00"),
        ("last day of last month 8:00", "2027-02-28 08:00:00"),
        ("first day of this month", "2027-03-01 14:30:00"),
        ("last day of January 2027", "2027-01-31 00:00:00"),
        ("first day of january 2027 10am", "2027-01-01 10:00:00"),
        ("2027-02-30", "2027-03-02 00:00:00"),
        ("2027-01-31 +1 month", "2027-03-03 00:00:00"),
        ("2027-03-28 02:30", "2027-03-28 03:30:00"),
    ] {
        assert_eq!(wall(text), expected, "{text}");
    }
}

#[test]
fn repeated_local_time_is_its_first_occurrence() {
    let zone = vienna();
    let point = When::parse("2027-10-31 02:30").unwrap().resolve(&zone, now()).unwrap();
    assert_eq!(point.instant(&zone).unwrap().to_string(), "2027-10-31T00:30:00Z");
}

#[test]
fn other_texts_are_rejected() {
    for text in [
        "",
        " ",
        "abc",
        "2027-13-01",
        "2027-00-01",
        "2027-01-32",
        "2027-01-00",
        "0000-01-01",
        "2027-01-01 25:00",
        "2027-01-01 12:60",
        "2027-01-01 13pm",
        "2027-01-01 0am",
        "12",
        "+3",
        "ago",
        "tomorrow ago",
        "+3 moons",
        "2027-01-01 2027-01-02",
        "10:00 11:00",
        "@",
        "@abc",
        "99999999999999999999",
        "next",
        "next moon",
        "first day of",
        "first day of next week",
        "1.5",
        "--3 days",
        "2027-01-01 +25:00",
        "1 March",
        "March",
        "２０２７-01-01",
        "Z Z",
    ] {
        let parsed = When::parse(text).and_then(|when| when.resolve(&vienna(), now()));
        // The only valid date here is "12", which is a number of seconds.
        assert_eq!(parsed.is_ok(), text == "12", "{text}");
    }
}

#[test]
fn written_day_ignores_time_and_offset() {
    let zone = vienna();
    for (text, day) in [
        ("2027-03-01 23:30 -0800", "2027-03-01"),
        ("1803941999", "2027-03-01"),
        ("1803942000", "2027-03-02"),
        ("tomorrow", "2027-03-11"),
    ] {
        let date = When::parse(text).unwrap().day(&zone, now()).unwrap();
        assert_eq!(date.to_string(), day, "{text}");
    }
}

#[test]
fn huge_counts_are_rejected() {
    for text in ["+9223372036854775807 weekdays", "+99999999999 years", "-999999999 fortnights"] {
        let when = When::parse(text).unwrap();
        assert_eq!(when.resolve(&vienna(), now()), Err(NotADate), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[0-9a-zA-Z+:/. ,@-]{0,40}") {
        if let Ok(when) = When::parse(&text) {
            let _ = when.resolve(&vienna(), now());
            let _ = when.day(&vienna(), now());
        }
    }

    #[test]
    fn every_printed_local_time_parses_back(seconds in 0_i64..4_000_000_000) {
        let zone = Zone::utc();
        let printed = zone.wall(Timestamp::from_second(seconds).unwrap());
        let text = printed.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let back = When::parse(&text).unwrap().resolve(&zone, now()).unwrap();
        proptest::prop_assert_eq!(back.instant(&zone).unwrap().as_second(), seconds);
    }
}
