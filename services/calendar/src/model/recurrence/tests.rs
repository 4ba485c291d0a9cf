use super::expansion::Abandoned;
use super::rule::Rule;

fn dates(rule: &str, start: &str, until: &str) -> String {
    let rule = Rule::parse(rule).unwrap();
    let moments = rule.expand(start.parse().unwrap(), until.parse().unwrap()).unwrap();
    moments.iter().map(|at| at.strftime("%m-%d").to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn rules_of_common_programs_are_expanded() {
    let year = "2028-01-01T00:00";
    for (rule, start, expected) in [
        ("FREQ=DAILY;COUNT=3", "2027-03-30T18:00", "03-30 03-31 04-01"),
        ("FREQ=DAILY;INTERVAL=2;COUNT=3", "2027-03-30T18:00", "03-30 04-01 04-03"),
        ("FREQ=WEEKLY;COUNT=3", "2027-03-30T18:00", "03-30 04-06 04-13"),
        ("FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4", "2027-03-30T18:00", "03-30 04-01 04-06 04-08"),
        // RFC 5545: weeks start on Sunday or Monday.
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
            "1997-08-05T09:00",
            "08-05 08-10 08-19 08-24",
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
            "1997-08-05T09:00",
            "08-05 08-17 08-19 08-31",
        ),
        ("FREQ=MONTHLY;COUNT=3", "2027-01-31T18:00", "01-31 03-31 05-31"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "2027-01-31T18:00", "01-31 02-28 03-31"),
        ("FREQ=MONTHLY;BYDAY=2TU;COUNT=3", "2027-01-12T18:00", "01-12 02-09 03-09"),
        ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=3", "2027-01-29T18:00", "01-29 02-26 03-26"),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2027-08-13T18:00", "08-13"),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3",
            "2027-01-29T18:00",
            "01-29 02-26 03-31",
        ),
        ("FREQ=YEARLY;COUNT=3", "2024-02-29T18:00", "02-29 02-29 02-29"),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;COUNT=2", "2026-03-29T02:00", "03-29 03-28"),
        ("FREQ=YEARLY;BYDAY=20MO;COUNT=2", "1997-05-19T09:00", "05-19 05-18"),
    ] {
        let until = if rule.contains("COUNT") { "2099-01-01T00:00" } else { year };
        assert_eq!(dates(rule, start, until), expected, "{rule}");
    }
    // The start counts even if it doesn't match the rule.
    assert_eq!(dates("FREQ=WEEKLY;BYDAY=WE;COUNT=2", "2027-03-30T18:00", year), "03-30 03-31");
}

#[test]
fn unsupported_rules_are_rejected_and_expansion_terminates() {
    for rule in [
        "",
        "FREQ=SECONDLY",
        "FREQ=DAILY;BYHOUR=24",
        "FREQ=YEARLY;BYWEEKNO=54",
        "FREQ=YEARLY;BYYEARDAY=0",
        "FREQ",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=MONTHLY;BYMONTHDAY=0",
        "FREQ=WEEKLY;BYDAY=XX",
        "FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=-1",
        "FREQ=MINUTELY;BYSECOND=0,30;BYSETPOS=1",
    ] {
        assert_eq!(Rule::parse(rule), None, "{rule}");
    }
    let never = Rule::parse("FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30").unwrap();
    let (start, end) = ("0001-01-31T00:00".parse().unwrap(), "9998-01-01T00:00".parse().unwrap());
    assert_eq!(never.expand(start, end), Err(Abandoned::NoMatch));
    // Lists contain each value once, even if it is written several times.
    let once = Rule::parse("FREQ=MONTHLY;BYMONTH=3;BYMONTHDAY=-1;BYDAY=2TU,MO;BYSETPOS=1");
    let often = Rule::parse(
        "FREQ=MONTHLY;BYMONTH=3,3;BYMONTHDAY=-1,-1,-1;BYDAY=MO,2TU,MO,2TU;BYSETPOS=1,1",
    );
    assert!(once.is_some() && once == often);
}

#[test]
fn rules_within_days_by_week_and_by_day_of_the_year_are_expanded() {
    // The expected days are from RFC 5545, 3.8.5.3.
    for (rule, start, expected) in [
        (
            "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3",
            "1997-05-12T09:00",
            "1997-05-12T09:00 1998-05-11T09:00 1999-05-17T09:00",
        ),
        (
            "FREQ=YEARLY;BYWEEKNO=20;COUNT=3",
            "1997-05-12T09:00",
            "1997-05-12T09:00 1998-05-11T09:00 1999-05-17T09:00",
        ),
        (
            "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO;COUNT=3",
            "2024-12-23T09:00",
            "2024-12-23T09:00 2025-12-22T09:00 2026-12-28T09:00",
        ),
        (
            "FREQ=YEARLY;INTERVAL=3;COUNT=5;BYYEARDAY=1,100,200",
            "1997-01-01T09:00",
            "1997-01-01T09:00 1997-04-10T09:00 1997-07-19T09:00 2000-01-01T09:00 2000-04-09T09:00",
        ),
        (
            "FREQ=HOURLY;INTERVAL=3;UNTIL=x",
            "1997-09-02T09:00",
            "1997-09-02T09:00 1997-09-02T12:00 1997-09-02T15:00",
        ),
        (
            "FREQ=MINUTELY;INTERVAL=90;COUNT=4",
            "1997-09-02T09:00",
            "1997-09-02T09:00 1997-09-02T10:30 1997-09-02T12:00 1997-09-02T13:30",
        ),
        (
            "FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,30;COUNT=5",
            "1997-09-02T09:00",
            "1997-09-02T09:00 1997-09-02T09:30 1997-09-02T10:00 1997-09-02T10:30 1997-09-03T09:00",
        ),
        (
            "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9;COUNT=4",
            "1997-09-02T09:00",
            "1997-09-02T09:00 1997-09-02T09:20 1997-09-02T09:40 1997-09-03T09:00",
        ),
        (
            "FREQ=HOURLY;INTERVAL=7;COUNT=5",
            "1997-09-02T20:00",
            "1997-09-02T20:00 1997-09-03T03:00 1997-09-03T10:00 1997-09-03T17:00 1997-09-04T00:00",
        ),
        (
            "FREQ=MONTHLY;BYDAY=MO;BYHOUR=8,20;BYSETPOS=-1;COUNT=3",
            "2027-03-29T20:00",
            "2027-03-29T20:00 2027-04-26T20:00 2027-05-31T20:00",
        ),
    ] {
        let until = if rule.contains("UNTIL") { "1997-09-02T17:00" } else { "2040-01-01T00:00" };
        let parsed = Rule::parse(rule).unwrap();
        let moments = parsed.expand(start.parse().unwrap(), until.parse().unwrap()).unwrap();
        let moments: Vec<String> =
            moments.iter().map(|at| at.strftime("%Y-%m-%dT%H:%M").to_string()).collect();
        assert_eq!(moments.join(" "), expected, "{rule}");
    }
}
