//! `calendar doctor`.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use database::{DatabaseError, Db};
use reqwest::Method;
use serde_json::json;
use testkit::{Exchange, Program};

use crate::images::PNG;

const ADMIN_KEY: &str = "0123456789abcdef0123456789abcdef";
const ROOT: &str = "/calendar/events/v1";

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_calendar")).setting("ADMIN_KEY", ADMIN_KEY).with_database()
}

async fn fill(program: &Program) {
    let server = program.serve(&[]);
    let upload = server.request(Method::POST, &format!("{ROOT}/images")).bearer_auth(ADMIN_KEY);
    let upload = upload.header("Content-Type", "image/png").body(PNG).answer().await.expect(201);
    let event = json!({"title": "Event", "start_date": "2041-04-01", "end_date": "2041-04-01", "tags": ["a"],
        "image": upload.json()["id"], "venue": [{"venue": "Hall"}], "categories": ["Music"]});
    let request = server.request(Method::POST, &format!("{ROOT}/events")).bearer_auth(ADMIN_KEY);
    assert_eq!(request.json(&event).answer().await.status, 201);
    server.stop();
}

#[actix_web::test]
async fn sound_calendar_has_no_findings() {
    let program = program();
    fill(&program).await;
    let found = program.json(&["doctor"]);
    assert_eq!(
        (&found["is_sound"], &found["events"], &found["terms"]),
        (&json!(true), &json!(1), &json!(2))
    );
    assert!(program.done(&["doctor"]).contains("media: 1 files, 0 missing, 0 damaged, 0 without"));
}

#[actix_web::test]
async fn every_fault_is_found_and_named() {
    let program = program();
    fill(&program).await;
    let media = program.folder().join("media");
    let image = fs::read_dir(&media).unwrap().next().unwrap().unwrap().path();
    let old = SystemTime::now() - Duration::from_secs(3600);
    let orphan = media.join("0123456789abcdef0123456789abcdef.png");
    fs::write(&orphan, b"x").unwrap();
    File::open(&orphan).unwrap().set_modified(old).unwrap();
    let pools = program.database().open(&[&auth::MIGRATIONS, &calendar::MIGRATIONS]);
    let faults = [
        ("update terms set count = 7 where name = 'a'", "wrong_counts", 1),
        ("update event_venues set start_utc = 1", "wrong_starts", 1),
        ("update events set search_ci = 'x'", "wrong_index", 1),
        ("insert into former_slugs values ('venues', 'x', 99)", "dead_redirects", 1),
        ("update terms set parent_id = 99 where name = 'Music'", "dangling", 1),
    ];
    for (statement, ..) in faults {
        let change = |db: &mut Db| calendar::Sql::new(db, statement).execute(db);
        assert_eq!(pools.write_blocking(change).unwrap(), 1, "{statement}");
    }
    let found = |name: &str, number: u64| {
        let ran = program.run(&["doctor", "--json"]);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&found["is_sound"], &found[name]), (&json!(false), &json!(number)), "{found}");
        ran.errors
    };
    let name = image.file_name().unwrap().to_str().unwrap();
    for (_, name, number) in faults {
        found(name, number);
    }
    let mut db = pools.connect().unwrap();
    // PostgreSQL allows no such rows.
    if matches!(db, Db::Sqlite(_)) {
        for statement in ["pragma foreign_keys = off", "update event_venues set other_id = 99"] {
            calendar::Sql::new(&db, statement).execute(&mut db).unwrap();
        }
        found("dangling", 2);
        found("damages", 0);
    }
    drop(db);
    let errors = found("orphan_files", 1);
    assert!(
        errors.contains("the file 0123456789abcdef0123456789abcdef.png is not used by any image"),
        "{errors}"
    );
    fs::write(&image, b"broken").unwrap();
    let errors = found("damaged_files", 1);
    assert!(errors.contains(&format!("the file {name} of image 1 is damaged")), "{errors}");
    fs::remove_file(&image).unwrap();
    let errors = found("missing_files", 1);
    assert!(errors.contains(&format!("the file {name} of image 1 is missing")), "{errors}");
    let begin = |db: &mut Db| -> Result<usize, DatabaseError> {
        calendar::Sql::new(db, "insert into unfinished_load values ('x', 7)").execute(db)
    };
    pools.write_blocking(begin).unwrap();
    let ran = program.run(&["doctor"]);
    assert!(ran.out.contains("load of an export has not finished"), "{}", ran.out);
    let ran = program.run(&["subscriptions", "run", "1"]);
    assert!(ran.errors.contains("has not finished"), "{}", ran.errors);
}

#[actix_web::test]
async fn file_of_an_image_that_was_erased_an_hour_ago_is_reported() {
    let program = program();
    fill(&program).await;
    let name = "0123456789abcdef0123456789abcdef.png";
    let (now, old) = (SystemTime::now(), SystemTime::now() - Duration::from_secs(7200));
    let file = program.folder().join("media").join(name);
    fs::write(&file, b"x").unwrap();
    File::open(&file).unwrap().set_modified(old).unwrap();
    let pools = program.database().open(&[&auth::MIGRATIONS, &calendar::MIGRATIONS]);
    for (erased, is_sound) in [(now, true), (old, false)] {
        let seconds = erased.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        for statement in [
            "delete from erased_files".to_owned(),
            format!("insert into erased_files (file, erased_utc) values ('{name}', {seconds})"),
        ] {
            let change = |db: &mut Db| calendar::Sql::new(db, &statement).execute(db);
            pools.write_blocking(change).unwrap();
        }
        let ran = program.run(&["doctor", "--json"]);
        let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let expected = (&json!(is_sound), &json!(u64::from(!is_sound)));
        assert_eq!((&found["is_sound"], &found["orphan_files"]), expected, "{found}");
    }
}
