//! Events as CSV tables.

use serde_json::{Value, json};
use testkit::{Folder, Program};

pub fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_calendar")).with_database()
}

pub fn load(program: &Program, table: &str, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let arguments = [&["load", "-", "--csv", "--json"], arguments].concat();
    let ran = program.pipe(&arguments, table.as_bytes());
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_default(), ran.errors)
}

/// Returns the numbers of created, updated, unchanged and faulty rows.
pub fn counts(report: &Value) -> [i64; 4] {
    ["created", "updated", "unchanged", "failed"].map(|name| report[name].as_i64().unwrap())
}

pub fn table_of(program: &Program) -> String {
    let folder = Folder::new();
    let file = folder.join("events.csv");
    program.done(&["export", "--csv", file.to_str().unwrap()]);
    std::fs::read_to_string(file).unwrap()
}

const TABLE: &str = "\u{feff}Title;Start date;End date;Venue;Organizer;Categories;Tags;Cost;Description;Timezone\r\n\
    \"Concert; \"\"late\"\"\";01.03.2041 19:00;01.03.2041 21:00;Hall | Garden;Choir;Music | 2041;open | über;12,50;\"a\r\nb\";Europe/Vienna\r\n\
    ;;;;;;;;;\r\n\
    '=1+1;2041-03-02 10:00;2041-03-02 11:00;Hall;;Music;;;'-x;\r\n";

#[test]
fn exported_table_equals_the_loaded_one() {
    let program = program();
    let (code, report, errors) = load(&program, TABLE, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [2, 0, 0, 0]), "{errors}{report}");
    let table = table_of(&program);
    assert!(table.starts_with("\u{feff}slug,title,status,start_date,"), "{table}");
    assert!(table.contains("\"Concert; \"\"late\"\"\",publish,2041-03-01 19:00:00"), "{table}");
    assert!(
        table.contains(",Europe/Vienna,Hall | Garden,Choir,Music | 2041,open | über,"),
        "{table}"
    );
    // Formulas are exported as text.
    assert!(table.contains(",'=1+1,") && table.contains(",'-x,"), "{table}");

    let (code, report, errors) = load(&program, &table, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 2, 0]), "{errors}{report}");
    assert_eq!(table_of(&program), table);

    // An edited cell changes its event, and an emptied cell clears its field.
    let edited = table.replace("Hall | Garden", "Garden").replace("\"12,50\"", "");
    let (code, report, errors) = load(&program, &edited, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 1, 0]), "{errors}{report}");
    assert_eq!(table_of(&program), edited);
}

#[test]
fn lines_may_end_with_carriage_returns() {
    let program = program();
    let row = |number: u32| format!("event {number},2041-03-01,2041-03-01\r");
    let rows: String = (0..3_000).map(row).collect();
    let table = format!("sep=,\rtitle,start_date,end_date\r{rows}");
    assert!(table.len() > 64 << 10);
    let (code, report, errors) = load(&program, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [3_000, 0, 0, 0]), "{errors}{report}");
}

#[test]
fn scheduled_events_stay_scheduled_and_protected_ones_are_left_out() {
    let source = program();
    let lines = [
        json!({"type": "event", "title": "Later", "start_date": "2041-03-01", "end_date": "2041-03-01",
            "status": "future", "date_utc": "2041-01-01 08:00:00"}),
        json!({"type": "event", "title": "Secret", "start_date": "2041-03-01", "end_date": "2041-03-01",
            "password": "secret"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(source.pipe(&["load", "-"], text.as_bytes()).code, Some(0));
    let ran = source.run(&["export", "--csv", "-"]);
    assert!(
        ran.errors.contains("1 events; password-protected events omitted: 1"),
        "{}",
        ran.errors
    );
    assert!(!ran.out.contains("Secret"), "{}", ran.out);

    let target = program();
    let (code, report, errors) = load(&target, &ran.out, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [1, 0, 0, 0]), "{errors}{report}");
    assert_eq!(table_of(&target), ran.out);
    assert!(ran.out.contains(",future,") && ran.out.contains("2041-01-01 08:00:00"), "{}", ran.out);

    let table = "title,status,start_date,end_date\nNow,future,2041-03-01,2041-03-01\n";
    let (code, report, errors) = load(&target, table, &[]);
    assert_eq!((code, counts(&report)), (Some(1), [0, 0, 0, 1]), "{errors}{report}");
    let message = report["faults"][0]["message"].as_str().unwrap();
    assert!(message.contains("requires the publication time in date_utc"), "{message}");
}

/// Returns a program whose calendar has these resources.
fn program_with(lines: &[Value]) -> Program {
    let program = program();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = program.pipe(&["load", "-"], text.as_bytes());
    assert!(lines.is_empty() || ran.code == Some(0), "{}", ran.errors);
    program
}

#[test]
fn ambiguous_names_are_written_with_ids_or_as_slugs() {
    let lines = [
        json!({"type": "venue", "venue": "Hall", "description": "old"}),
        json!({"type": "venue", "venue": "Hall", "description": "new", "slug": "new-hall"}),
        json!({"type": "category", "name": "Club"}),
        json!({"type": "category", "name": "Music"}),
        json!({"type": "tag", "name": "a|b"}),
        json!({"type": "event", "title": "x", "start_date": "2041-03-01", "end_date": "2041-03-01",
            "venue": [2], "tags": ["a|b"], "categories": ["Music"]}),
    ];
    let program = program_with(&lines);
    let table = table_of(&program);
    assert!(table.contains(",id:2 Hall,") && table.contains(",Music,a||b,"), "{table}");
    let (code, report, errors) = load(&program, &table, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 1, 0]), "{errors}{report}");
    // In another calendar the id belongs to another venue, or to none.
    let other = program_with(&[
        json!({"type": "venue", "venue": "Barn"}),
        json!({"type": "venue", "venue": "Inn"}),
    ]);
    for program in [other, program_with(&[])] {
        let (code, report, errors) = load(&program, &table, &[]);
        assert_eq!((code, counts(&report)), (Some(1), [0, 0, 0, 1]), "{errors}{report}");
        let message = report["faults"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("venue "), "{message}");
    }
}

#[test]
fn names_with_separators_return() {
    let lines = [
        json!({"type": "venue", "venue": "Hall \"A\" | B"}),
        json!({"type": "event", "title": "x", "start_date": "2041-03-01", "end_date": "2041-03-01",
            "venue": [1], "organizer": {"organizer": "|"}}),
    ];
    let table = table_of(&program_with(&lines));
    let other = program_with(&[json!({"type": "venue", "venue": "Other"})]);
    let (code, report, errors) = load(&other, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [1, 0, 0, 0]), "{errors}{report}");
    assert_eq!(table_of(&other), table);
}

#[test]
fn names_with_tags_as_text_return() {
    let lines = [
        json!({"type": "category", "name": "a &lt;b&gt; c"}),
        json!({"type": "event", "title": "x", "start_date": "2041-03-01", "end_date": "2041-03-01",
            "categories": ["a &lt;b&gt; c"], "venue": {"venue": "Hall &lt;North&gt;"}}),
    ];
    let program = program_with(&lines);
    let table = table_of(&program);
    let (code, report, errors) = load(&program, &table, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 1, 0]), "{errors}{report}{table}");
}

#[test]
fn faults_are_reported_by_line() {
    for end in ["\n", "\r\n", "\r"] {
        reports_faults_by_line(&program(), end);
    }
}

#[track_caller]
fn reports_faults_by_line(program: &Program, end: &str) {
    let rows = [
        "sep=,",
        "title,start_date,end_date,venue",
        "good,2041-03-01,2041-03-01,",
        "\"two\nlines\",soon-ish,2041-03-01,",
        "more,2041-03-01,2041-03-01,a,b",
        "odd,2041-03-01,2041-03-01,id:x",
        "late,2041-03-01,2041-03-01,id:9",
    ];
    let table = rows.map(|row| format!("{row}{end}")).concat();
    let (code, report, errors) = load(program, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(1), [1, 0, 0, 4]), "{errors}{report}");
    let faults = report["faults"].as_array().unwrap().iter();
    let faults: Vec<String> = faults
        .map(|fault| format!("{} {}", fault["line"], fault["message"].as_str().unwrap()))
        .collect();
    assert_eq!(
        faults,
        [
            "4 start_date must be a date",
            "6 has 5 cells, but the table has 4 columns",
            "7 venue \"id:x\" is not a name, or id:, a number and perhaps a name",
            "8 venue must name existing venues",
        ]
    );
    let latin = program
        .pipe(&["load", "-", "--csv"], b"title,start_date,end_date\n\xe9,2041-03-01,2041-03-01\n");
    assert!(latin.errors.contains("line 2: title is not UTF-8"), "{}", latin.errors);
}

#[test]
fn other_files_are_refused() {
    let program = program();
    let endless = format!("title,start_date,end_date\n\"{}", "x".repeat(5 << 20));
    for (table, message) in [
        ("title,start_date,colour\n", "column \"colour\" is unknown; the columns are slug, title"),
        ("title,Title\n", "column \"Title\" is repeated"),
        ("", "the first line must contain the column names"),
        ("title,start_date\n", "contains no data"),
        (&"title,".repeat(20_000), "the first line must contain the column names"),
        ("\u{fffe}", "column"),
        (
            "title,start_date,end_date,description\nx,2041-03-01,2041-03-01,\"half of \"\"it",
            "line 2: a quoted cell is not closed",
        ),
        (&endless, "line 2: the row is longer than 4 MiB"),
    ] {
        let (code, _, errors) = load(&program, table, &[]);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains(message), "{message}: {errors}");
    }
    let wide = program.pipe(&["load", "-", "--csv"], b"\xff\xfet\0i\0");
    assert!(wide.errors.contains("save the table as \"CSV UTF-8\""), "{}", wide.errors);
}

#[test]
fn costs_with_several_amounts_return() {
    let costs = [
        json!(["10", "20"]),
        json!(["0$", "20$", "30$"]),
        json!(["Members | guests", "5"]),
        json!("5|7"),
        json!("12,50"),
    ];
    let event = |(number, cost): (usize, &Value)| {
        json!({"type": "event", "title": format!("event {number}"), "start_date": "2041-03-01",
            "end_date": "2041-03-01", "cost": cost})
    };
    let lines: Vec<Value> = costs.iter().enumerate().map(event).collect();
    let program = program_with(&lines);
    let table = table_of(&program);
    for cell in ["10 | 20", "0$ | 20$ | 30$", "Members || guests | 5", "5||7", "\"12,50\""] {
        assert!(table.contains(&format!(",{cell},")), "{cell}: {table}");
    }
    let (code, report, errors) = load(&program, &table, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 5, 0]), "{errors}{report}");
    let other = program_with(&[]);
    let (code, report, errors) = load(&other, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [5, 0, 0, 0]), "{errors}{report}");
    assert_eq!(table_of(&other), table);
}

#[test]
fn table_carries_a_series_with_the_events_that_differ() {
    let program = program();
    let table = "Title;Start date;End date;Timezone;Recurrence\r\n\
        Yoga;2020-03-03 18:00;2020-03-03 19:00;Europe/Vienna;\"FREQ=WEEKLY;COUNT=3\"\r\n";
    let (code, report, errors) = load(&program, table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [1, 0, 0, 0]), "{errors}{report}");
    let first = table_of(&program);
    assert_eq!(first.matches("Yoga").count(), 3, "{first}");
    assert_eq!(first.matches("RRULE:FREQ=WEEKLY;COUNT=3").count(), 1, "{first}");
    assert!(first.contains("yoga--2020-03-10,Yoga,publish,2020-03-10 18:00:00"), "{first}");
    let edited = first.replace("yoga--2020-03-10,Yoga", "yoga--2020-03-10,Guest");
    let (code, report, errors) = load(&program, &edited, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 2, 0]), "{errors}{report}");
    assert_eq!(table_of(&program), edited);
    let other = self::program();
    let (code, report, errors) = load(&other, &edited, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [1, 1, 1, 0]), "{errors}{report}");
    assert_eq!(table_of(&other), edited);
}

/// Returns a program with a weekly series since 3 March 2020.
pub fn program_with_series(count: u32) -> Program {
    let program = program();
    let table = format!(
        "Title;Start date;End date;Timezone;Recurrence\r\n\
         Yoga;2020-03-03 18:00;2020-03-03 19:00;Europe/Vienna;\"FREQ=WEEKLY;COUNT={count}\"\r\n"
    );
    let (code, _, errors) = load(&program, &table, &[]);
    assert_eq!(code, Some(0), "{errors}");
    program
}

#[test]
fn rule_is_in_the_first_row_that_is_left() {
    let source = program_with_series(6);
    let trashed = "slug,status\nyoga--2020-03-03,trash\nyoga--2020-03-24,trash\n";
    let (code, report, errors) = load(&source, trashed, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 2, 0, 0]), "{errors}{report}");
    let table = table_of(&source);
    assert!(table.contains("\"RRULE:FREQ=WEEKLY;COUNT=5\nEXDATE:20200324T170000Z\""), "{table}");
    assert_eq!((table.matches("RRULE").count(), table.matches(",Yoga,").count()), (1, 4));
    let (code, report, errors) = load(&source, &table, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 0, 4, 0]), "{errors}{report}");
    assert_eq!(table_of(&source), table);
    // Another calendar gets the same series. There, the events' ids contain the first one's.
    let other = program();
    let (code, report, errors) = load(&other, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [1, 0, 3, 0]), "{errors}{report}");
    assert_eq!(table_of(&other).replace("#20200310T170000Z#", "#"), table);
    let edited = table.replace("yoga--2020-03-17,Yoga", "yoga--2020-03-17,Guest");
    let (code, report, errors) = load(&other, &edited, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 3, 0]), "{errors}{report}");
    assert_eq!(table_of(&other).replace("#20200310T170000Z#", "#"), edited);
    // Another rule in this row replaces the rest of the series.
    let shorter = "slug,recurrence\nyoga--2020-03-10,FREQ=WEEKLY;COUNT=2\n";
    let (code, report, errors) = load(&source, shorter, &["--upsert"]);
    assert_eq!((code, counts(&report)), (Some(0), [0, 1, 0, 0]), "{errors}{report}");
    let table = table_of(&source);
    assert!(table.contains("yoga--2020-03-17,Yoga") && table.contains("COUNT=2"), "{table}");
    assert_eq!(table.matches(",Yoga,").count(), 2, "{table}");
}

#[test]
fn rule_is_not_in_the_row_of_a_moved_or_protected_event() {
    let source = program_with_series(4);
    let lines = [
        json!({"type": "event", "slug": "yoga--2020-03-03", "password": "secret"}),
        json!({"type": "event", "slug": "yoga--2020-03-10", "start_date": "2020-03-10 20:00",
            "end_date": "2020-03-10 21:00"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(source.pipe(&["load", "-", "--upsert"], text.as_bytes()).code, Some(0));
    let table = table_of(&source);
    assert!(table.contains("RRULE:FREQ=WEEKLY;COUNT=2"), "{table}");
    let other = program();
    let (code, report, errors) = load(&other, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [2, 0, 1, 0]), "{errors}{report}");
    let slugs = ["yoga--2020-03-10", "yoga--2020-03-17", "yoga--2020-03-24"];
    let again = table_of(&other);
    assert!(slugs.iter().all(|slug| again.contains(&format!("\n{slug},Yoga,"))), "{again}");
    assert_eq!(again.matches(",Yoga,").count(), 3, "{again}");
}

#[test]
fn export_reports_series_whose_first_or_all_events_were_moved() {
    let source = program_with_series(3);
    let moved = |day: u32| {
        json!({"type": "event", "slug": format!("yoga--2020-03-{day:02}"),
            "start_date": format!("2020-03-{day:02} 20:00"), "end_date": format!("2020-03-{day:02} 21:00")})
    };
    let export = |source: &Program| source.run(&["export", "--csv", "-"]);
    assert!(!export(&source).errors.contains("series"), "{}", export(&source).errors);
    let text = format!("{}\n", moved(3));
    assert_eq!(source.pipe(&["load", "-", "--upsert"], text.as_bytes()).code, Some(0));
    let ran = export(&source);
    let warning = "3 events; series whose first events were moved and become separate events: 1";
    assert!(ran.errors.contains(warning), "{}", ran.errors);
    let other = program();
    let (code, report, errors) = load(&other, &ran.out, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [2, 0, 1, 0]), "{errors}{report}");
    let again = export(&other);
    assert!(!again.errors.contains("series"), "{}", again.errors);
    assert_eq!(again.out.replace("#20200310T170000Z#", "#"), ran.out);
    let text = format!("{}\n{}\n", moved(10), moved(17));
    assert_eq!(source.pipe(&["load", "-", "--upsert"], text.as_bytes()).code, Some(0));
    let ran = export(&source);
    let warning = "3 events; series without their rule, because all their events were moved: 1";
    assert!(
        ran.errors.contains(warning) && !ran.out.contains("RRULE"),
        "{}{}",
        ran.errors,
        ran.out
    );
}

#[test]
fn slugs_with_dates_return() {
    let source = program_with_series(5);
    let lines = [
        // A split series.
        json!({"type": "event", "slug": "yoga--2020-03-17", "title": "Yoga II", "scope": "following"}),
        // An event that was part of it.
        json!({"type": "event", "slug": "yoga--2020-03-31", "status": "trash", "scope": "following"}),
        json!({"type": "event", "slug": "yoga--2020-03-31__trashed", "status": "publish"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = source.pipe(&["load", "-", "--upsert"], text.as_bytes());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.errors);
    let table = table_of(&source);
    let dates = ["03", "10", "17", "24", "31"].map(|day| format!("\nyoga--2020-03-{day},Yoga"));
    assert!(dates.iter().all(|date| table.contains(date)), "{table}");
    let other = program();
    let (code, report, errors) = load(&other, &table, &[]);
    assert_eq!((code, counts(&report)), (Some(0), [3, 0, 2, 0]), "{errors}{report}");
    assert_eq!(table_of(&other), table);
}

#[test]
fn slug_of_an_event_that_became_a_series_returns() {
    let source = program_with(&[json!({"type": "event", "title": "Plain", "slug": "plain",
        "start_date": "2020-03-03 18:00", "end_date": "2020-03-03 19:00"})]);
    let repeated = json!({"type": "event", "slug": "plain", "recurrence": "FREQ=WEEKLY;COUNT=3"});
    let repeated = format!("{repeated}\n");
    // The slug in the line names the event first, and then its series.
    for _ in 0..2 {
        assert_eq!(source.pipe(&["load", "-", "--upsert"], repeated.as_bytes()).code, Some(0));
    }
    let table = table_of(&source);
    let days = ["2020-03-03", "2020-03-10", "2020-03-17"];
    assert!(days.iter().all(|day| table.contains(&format!("\nplain--{day},Plain,"))), "{table}");
    assert_eq!(table.matches("Plain").count(), 3, "{table}");
    let other = program();
    for upsert in [&[][..], &["--upsert"]] {
        let (code, _, errors) = load(&other, &table, upsert);
        assert_eq!((code, table_of(&other)), (Some(0), table.clone()), "{errors}");
    }
}
