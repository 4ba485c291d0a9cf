//! Tables that were edited, and tables as spreadsheets save them.

use crate::spreadsheet::{counts, load, program, program_with_series, table_of};

#[test]
fn new_start_in_the_first_row_moves_the_later_dates() {
    let program = program_with_series(4);
    let table = table_of(&program);
    // One event has a title of its own, and one was moved before.
    let own = table.replace("yoga--2020-03-17,Yoga", "yoga--2020-03-17,Guest").replace(
        "2020-03-24 18:00:00,2020-03-24 19:00:00",
        "2020-03-24 10:00:00,2020-03-24 11:00:00",
    );
    let (code, report, errors) = load(&program, &own, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 2, 2, 0]), "{errors}{report}");
    for (day, from, to) in [
        // An hour later, then two days.
        ("03", "03 18:00:00,2020-03-03 19:00:00", "03 19:00:00,2020-03-03 20:00:00"),
        ("03", "03 19:00:00,2020-03-03 20:00:00", "05 19:00:00,2020-03-05 20:00:00"),
    ] {
        let before = table_of(&program);
        let first = format!("yoga--2020-03-{day},Yoga,publish,2020-03-{from}");
        assert!(before.contains(&first), "{before}");
        let edited = before.replace(&first, &first.replace(from, to));
        let (code, report, errors) = load(&program, &edited, &["--upsert"]);
        assert_eq!((code, counts(&report)), (Some(0), [0, 1, 3, 0]), "{errors}{report}");
    }
    let after = table_of(&program);
    for start in ["Yoga,publish,2020-03-05 19:00", "Yoga,publish,2020-03-12 19:00"] {
        assert!(after.contains(start), "{start}: {after}");
    }
    assert!(after.contains("Guest,publish,2020-03-19 19:00:00"), "{after}");
    // The event with its own time keeps it.
    assert!(after.contains("2020-03-24 10:00:00"), "{after}");
    assert_eq!(after.lines().count(), table.lines().count(), "{after}");
    let (code, report, errors) = load(&program, &after, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 4, 0]), "{errors}{report}");
}

#[test]
fn rows_of_dates_that_a_new_rule_lacks_do_not_return() {
    let program = program_with_series(4);
    let shorter = table_of(&program).replace("COUNT=4", "COUNT=2");
    let (code, report, errors) = load(&program, &shorter, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 3, 0]), "{errors}{report}");
    assert_eq!(table_of(&program).matches(",Yoga,").count(), 2);
}

#[test]
fn new_rule_in_a_row_keeps_excluded_dates() {
    let program = program_with_series(3);
    let trashed = "slug,status\nyoga--2020-03-10,trash\n";
    let (code, _, errors) = load(&program, trashed, &["--upsert"]);
    assert_eq!(code, Some(0), "{errors}");
    for rule in ["FREQ=WEEKLY;COUNT=4", "RRULE:FREQ=WEEKLY;COUNT=5"] {
        let longer = format!("slug,recurrence\nyoga--2020-03-03,{rule}\n");
        let (code, report, errors) = load(&program, &longer, &["--upsert"]);
        assert_eq!((code, counts(&report)), (Some(0), [0, 1, 0, 0]), "{errors}{report}");
        let table = table_of(&program);
        assert!(table.contains("\nEXDATE:20200310T170000Z"), "{table}");
        assert!(!table.contains("yoga--2020-03-10"), "{table}");
    }
    // An empty line includes them again.
    let whole = "slug,recurrence\nyoga--2020-03-03,\"RRULE:FREQ=WEEKLY;COUNT=5\nEXDATE:\"\n";
    let (code, _, errors) = load(&program, whole, &["--upsert"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(table_of(&program).matches(",Yoga,").count(), 5);
}

#[test]
fn series_without_its_first_event_returns_to_its_calendar() {
    let origin = program_with_series(4);
    let trashed = "slug,status\nyoga--2020-03-03,trash\n";
    let (code, _, errors) = load(&origin, trashed, &["--upsert"]);
    assert_eq!(code, Some(0), "{errors}");
    let table = table_of(&origin);
    let other = program();
    let (code, _, errors) = load(&other, &table, &[]);
    assert_eq!(code, Some(0), "{errors}");
    // The other calendar's ids are longer.
    let edited = table_of(&other).replace("yoga--2020-03-17,Yoga", "yoga--2020-03-17,Guest");
    assert!(edited.contains("#20200310T170000Z#20200317T170000Z"), "{edited}");
    let (code, report, errors) = load(&origin, &edited, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 2, 0]), "{errors}{report}");
    let expected = table.replace("yoga--2020-03-17,Yoga", "yoga--2020-03-17,Guest");
    assert_eq!(table_of(&origin), expected);
}

#[test]
fn order_of_day_and_month_is_not_guessed() {
    let table = "title,start_date,end_date\nOne,05/01/2041 18:00,05/01/2041 19:00\n\
        Two,25/01/2041 18:00,25/01/2041 19:00\n";
    let day_first = program();
    let (code, report, errors) = load(&day_first, table, &[]);
    assert_eq!((code, counts(&report)), (Some(1), [1, 0, 0, 1]), "{errors}{report}");
    let message = report["faults"][0]["message"].as_str().unwrap();
    assert!(message.contains("--date-order dmy or mdy"), "{message}");
    let (code, report, errors) = load(&day_first, table, &["--date-order", "dmy"]);
    assert_eq!((code, counts(&report)), (Some(0), [1, 0, 1, 0]), "{errors}{report}");
    let loaded = table_of(&day_first);
    for start in ["One,publish,2041-01-05 18:00:00", "Two,publish,2041-01-25 18:00:00"] {
        assert!(loaded.contains(start), "{loaded}");
    }
    let month_first = program();
    let (code, report, errors) = load(&month_first, table, &["--date-order", "mdy"]);
    assert_eq!((code, counts(&report)), (Some(1), [1, 0, 0, 1]), "{errors}{report}");
    assert!(table_of(&month_first).contains("One,publish,2041-05-01 18:00:00"));
    // Spreadsheets store dates as numbers of days.
    let (code, report, errors) =
        load(&month_first, "title,start_date,end_date\nThree,46392,46392.5\n", &[]);
    assert_eq!((code, counts(&report)), (Some(1), [0, 0, 0, 1]), "{errors}{report}");
    assert!(report["faults"][0]["message"].as_str().unwrap().contains("46392 is a number"));
}

#[test]
fn table_that_a_spreadsheet_saved_without_seconds_changes_nothing() {
    let program = program();
    let table = "title,start_date,end_date,all_day,date_utc\n\
        Choir,2041-03-01 18:00:30,2041-03-01 19:00:45,no,2020-11-29 19:02:41\n\
        Fair,2041-03-02,2041-03-02,yes,2020-11-29 19:02:59\n";
    let (code, _, errors) = load(&program, table, &[]);
    assert_eq!(code, Some(0), "{errors}");
    let exported = table_of(&program);
    let mut saved = exported.replace("2020-11-29 19:02:41", "29.11.2020 19:02");
    for (from, to) in [
        ("2041-03-01 18:00:30", "01.03.2041 18:00"),
        ("2041-03-01 19:00:45", "01.03.2041 19:00"),
        ("2041-03-02 00:00:00", "02.03.2041 00:00"),
        ("2041-03-02 23:59:59", "02.03.2041 23:59"),
        ("2020-11-29 19:02:59", "29.11.2020 19:02"),
    ] {
        assert!(saved.contains(from), "{from}: {saved}");
        saved = saved.replace(from, to);
    }
    let (code, report, errors) = load(&program, &saved, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 2, 0]), "{errors}{report}");
    assert_eq!(table_of(&program), exported);
    // Another minute is a change.
    let later = saved.replace("01.03.2041 18:00", "01.03.2041 18:01");
    let (code, report, errors) = load(&program, &later, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 1, 0]), "{errors}{report}");
}
