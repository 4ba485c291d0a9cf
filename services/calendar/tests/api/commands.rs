//! Commands as an operator runs them: pipes, JSON output, exit codes.

use serde_json::{Value, json};
use testkit::Program;

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_calendar")).with_database()
}

/// Parses the JSON that a command printed.
#[track_caller]
fn report(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn load_reads_standard_input_and_prints_a_json_report() {
    let program = program();
    program.done(&["migrate"]);
    program.done(&["users", "list"]);
    let line = |fields: Value| format!("{fields}\n");
    let show = json!({"type": "event", "title": "Show", "start_date": "+1 day", "end_date": "+1 day", "external_id": "s1"});
    let lines = line(show.clone()) + &line(json!({"type": "tag", "name": "Jazz"}));
    let ran = program.pipe(&["load", "-", "--json", "--dry-run"], lines.as_bytes());
    assert_eq!((ran.code, &report(&ran.out)["created"]), (Some(0), &json!(2)), "{}", ran.errors);
    for (created, unchanged) in [(2, 0), (0, 2)] {
        let ran = program.pipe(&["load", "-", "--json"], lines.as_bytes());
        let done = report(&ran.out);
        assert_eq!((&done["created"], &done["unchanged"]), (&json!(created), &json!(unchanged)));
    }
    // A faulty line does not stop the load, and the command exits with a failure.
    let more = line(json!({"type": "event", "title": "No dates"}))
        + "{\n"
        + &line(json!({"type": "tag", "name": "Folk"}));
    let ran = program.pipe(&["load", "-"], more.as_bytes());
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.starts_with("1 created, 0 updated, 0 unchanged, 2 failed"), "{}", ran.out);
    assert!(ran.errors.contains("line 1: ") && ran.errors.contains("line 2: "), "{}", ran.errors);
}

#[test]
fn dry_run_without_a_database_creates_nothing() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar"));
    let media = program.folder().join("media");
    let program = program.setting("MEDIA_DIR", media);
    for command in ["load", "import"] {
        let ran = program.run(&[command, "-", "--dry-run"]);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        assert!(ran.errors.contains("does not exist; nothing was created"), "{}", ran.errors);
        assert_eq!(std::fs::read_dir(program.folder().path()).unwrap().count(), 0, "{command}");
    }
}

#[test]
fn command_for_existing_data_without_a_database_creates_nothing() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar"));
    for arguments in [
        &["users", "list"][..],
        &["users", "set-role", "ann", "--role", "editor"],
        &["keys", "list"],
        &["keys", "issue", "ann"],
        &["webhooks", "list"],
        &["subscriptions", "list"],
        &["export", "-"],
        &["purge", "--event", "1"],
        &["doctor"],
    ] {
        let ran = program.run(arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.errors);
        assert!(ran.errors.contains("does not exist; nothing was created"), "{}", ran.errors);
        assert_eq!(std::fs::read_dir(program.folder().path()).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn command_for_existing_data_leaves_an_empty_file_and_the_admin_key_unchanged() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar"));
    let file = program.folder().write("calendar.db", "");
    let key = program.folder().write("admin-key", "old");
    for arguments in [&["keys", "list"][..], &["users", "list"], &["doctor"]] {
        let ran = program.run(arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.errors);
        assert!(ran.errors.contains("is empty; nothing was changed"), "{}", ran.errors);
    }
    assert_eq!(file.metadata().unwrap().len(), 0);
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "old");
}

#[test]
fn missing_source_creates_no_database() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar"));
    for command in ["load", "import"] {
        let ran = program.run(&[command, "missing.ics"]);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        assert!(ran.errors.contains("missing.ics cannot be read"), "{}", ran.errors);
        assert_eq!(std::fs::read_dir(program.folder().path()).unwrap().count(), 0, "{command}");
    }
}

#[test]
fn empty_load_fails_unless_it_is_allowed() {
    let program = program();
    for (flags, code) in [(&[][..], 1), (&["--allow-empty"], 0)] {
        for lines in ["", "\n \n"] {
            let ran = program.pipe(&[&["load", "-"], flags].concat(), lines.as_bytes());
            assert_eq!(ran.code, Some(code), "{}", ran.errors);
            assert_eq!(ran.errors.contains("use --allow-empty"), code == 1, "{}", ran.errors);
        }
    }
}

#[test]
fn import_reads_standard_input_and_prints_a_json_report() {
    let program = program();
    program.done(&["migrate"]);
    program.done(&["users", "list"]);
    let file = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20270401T100000Z\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:b\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    for (flags, created, unchanged) in
        [(&["--dry-run"][..], 1, 0), (&[], 1, 0), (&[], 0, 1), (&["--dry-run"], 0, 1)]
    {
        let arguments = [&["import", "-", "--json"], flags].concat();
        let ran = program.pipe(&arguments, file.as_bytes());
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        let done = report(&ran.out);
        let counts = [&done["created"], &done["unchanged"], &done["failed"]];
        assert_eq!(counts, [&json!(created), &json!(unchanged), &json!(1)], "{flags:?}");
        assert!(ran.errors.contains("line 6: b: DTSTART is missing"), "{}", ran.errors);
    }
    let ran = program.pipe(&["import", "-"], b"no calendar");
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.contains("is not an iCalendar file"), "{}", ran.errors);
}

#[test]
fn import_prints_the_number_of_further_warnings() {
    let program = program();
    program.done(&["migrate"]);
    program.done(&["users", "list"]);
    let dates: String =
        (0..1003).map(|zone| format!("EXDATE;TZID=odd{zone}:20270501T100000\r\n")).collect();
    let file = format!(
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20270401T100000Z\r\n\
         RRULE:FREQ=DAILY;COUNT=2\r\n{dates}END:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    let ran = program.pipe(&["import", "-", "--dry-run"], file.as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    assert!(ran.errors.contains("odd999") && !ran.errors.contains("odd1000"), "{}", ran.errors);
    assert!(ran.errors.contains("and 3 more warnings"), "{}", ran.errors);
}

#[test]
fn start_fails_if_the_media_folder_cannot_be_created() {
    let program = program();
    let file = program.folder().path().join("file");
    std::fs::write(&file, "").unwrap();
    let ran =
        program.setting("MEDIA_DIR", file.join("media")).run(&["serve", "--bind=127.0.0.1:0"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains("(MEDIA_DIR)"), "{}", ran.errors);
}

#[test]
fn empty_database_url_is_refused_only_by_commands_that_use_it() {
    let program = program().setting("DATABASE_URL", "");
    let ran = program.run(&["openapi"]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let ran = program.run(&["users", "list"]);
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
    assert!(ran.errors.contains("DATABASE_URL is empty"), "{}", ran.errors);
}

#[test]
fn users_list_prints_a_table_or_json() {
    let program = program();
    program.done(&["users", "add", "ann", "--role", "author"]);
    let table = "id\tlogin\trole\n1\tadmin\tadministrator\n2\tann\tauthor\n";
    assert_eq!(program.done(&["users", "list"]), table);
    let expected = json!([
        {"id": 1, "login": "admin", "role": "administrator"},
        {"id": 2, "login": "ann", "role": "author"},
    ]);
    assert_eq!(report(&program.done(&["users", "list", "--json"])), expected);
}

#[test]
fn webhooks_are_added_listed_and_removed() {
    let program = program();
    let address = "https://mirror.example.org/hook";
    let secret = program.done(&["webhooks", "add", address]);
    assert!(secret.trim().starts_with("whsec_"), "{secret}");
    assert_eq!(program.run(&["webhooks", "add", address]).code, Some(1), "it exists already");
    let listed = program.done(&["webhooks", "list"]);
    assert_eq!(listed.trim(), format!("1\t0\t{address}"));
    program.done(&["webhooks", "remove", address]);
    assert!(!program.done(&["webhooks", "list"]).contains(address));
    assert_eq!(
        program.run(&["webhooks", "remove", address]).code,
        Some(1),
        "it was removed already"
    );
    for wrong in ["http://127.0.0.1/hook", "nonsense", "ftp://a.example/", "https://a.example/ a"] {
        assert_eq!(program.run(&["webhooks", "add", wrong]).code, Some(1), "{wrong}");
    }
}
