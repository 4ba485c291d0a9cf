//! Exports of whole calendars, and loading them into other databases.

use std::io::Write as _;
use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Exchange, Folder, HttpPeer, PeerAnswer, Program, Served};

use crate::images::PNG;

const ADMIN_KEY: &str = "0123456789abcdef0123456789abcdef";
const ROOT: &str = "/calendar/events/v1";
const ROLES: [&str; 4] = ["administrator", "editor", "author", "contributor"];

fn program() -> Program {
    // Makes all responses use the same host, and disables rate limits.
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).setting("RATE_WRITE_RPM", "0");
    program.setting("RATE_READ_RPM", "0").setting("PUBLIC_URL", "https://calendar.example")
}

fn source() -> Program {
    program().setting("ADMIN_KEY", ADMIN_KEY)
}

fn text(folder: &Folder, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

async fn call(server: &Served, method: &str, path: &str, key: &str, body: Value) -> Value {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = server.request(method, &format!("{ROOT}{path}")).bearer_auth(key);
    let answer = request.json(&body).answer().await;
    assert!(answer.status < 300, "{path} is {}", answer.status);
    answer.json()
}

async fn create(server: &Served, path: &str, body: Value) -> i64 {
    call(server, "POST", path, ADMIN_KEY, body).await["id"].as_i64().unwrap()
}

/// Fills a calendar with every kind of content.
async fn fill(program: &Program) {
    for role in &ROLES[1..] {
        program.done(&["users", "add", role, "--role", role]);
    }
    let mark = program.done(&["keys", "issue", "author"]);
    program.done(&["webhooks", "add", "https://mirror.example.org/hook"]);
    let server = program.serve(&[]);
    let upload = server.request(Method::POST, &format!("{ROOT}/images")).bearer_auth(ADMIN_KEY);
    let upload = upload.header("Content-Type", "image/png").body(PNG).answer().await.expect(201);
    let image = upload.json()["id"].as_i64().unwrap();
    let venue = json!({"venue": "Hall", "city": "Graz", "geo_lat": 47.070714, "geo_lng": 15.439504000000001});
    let venue = create(&server, "/venues", venue).await;
    let organizer = json!({"organizer": "Choir", "email": "choir@example.org", "image": image});
    let organizer = create(&server, "/organizers", organizer).await;
    let parent = create(&server, "/categories", json!({"name": "Music"})).await;
    let child = json!({"name": "Chöre", "parent": parent, "description": "<b>sung</b>"});
    let child = create(&server, "/categories", child).await;
    let tag = create(&server, "/tags", json!({"name": "Открыто"})).await;
    let mut ids = Vec::new();
    for (number, status) in
        ["publish", "draft", "private", "pending", "future", "publish", "publish"]
            .iter()
            .enumerate()
    {
        let date = format!("2041-04-{:02} 10:00:00", number + 1);
        let event = json!({
            "title": format!("Event {number} \u{1F3B5} \u{2028}"), "start_date": date, "end_date": date,
            "status": status, "venue": venue, "organizer": [organizer], "categories": [child, parent],
            "tags": [tag], "image": image, "cost": "12", "timezone": "America/New_York",
            "date": if *status == "future" { "2041-01-01 00:00:00" } else { "2020-01-01 00:00:00" },
            "description": format!("<p>Text \"{number}\" \\ ü</p>"),
        });
        ids.push(create(&server, "/events", event).await);
    }
    let change = |id: i64, body: Value| {
        let (server, path) = (&server, format!("/events/{id}"));
        async move { call(server, "PATCH", &path, ADMIN_KEY, body).await }
    };
    change(ids[0], json!({"slug": "renamed", "post_parent": ids[6]})).await;
    change(ids[1], json!({"password": "secret"})).await;
    change(ids[5], json!({"event_status": "cancelled", "event_status_reason": "rain"})).await;
    call(&server, "DELETE", &format!("/events/{}", ids[2]), ADMIN_KEY, json!({})).await;
    let weekly = json!({"title": "Weekly", "start_date": "2041-04-02", "end_date": "2041-04-02",
        "recurrence": {"rrule": "FREQ=WEEKLY", "count": 3, "exdates": ["2041-04-09"]}});
    let weekly = create(&server, "/events", weekly).await;
    change(weekly, json!({"title": "First of all"})).await;
    let own = json!({"title": "Own", "start_date": "2041-05-01", "end_date": "2041-05-01"});
    call(&server, "POST", "/events", mark.trim(), own).await;
    // The last id belonged to an erased event and must not be reused.
    let last = json!({"title": "Last", "start_date": "2041-05-01", "end_date": "2041-05-01"});
    let last = create(&server, "/events", last).await;
    call(&server, "DELETE", &format!("/events/{last}?force=true"), ADMIN_KEY, json!({})).await;
    let feed = format!("{ROOT}/ical?start_date=2041-05-01&end_date=2041-05-02");
    let feed = String::from_utf8(server.get(&feed).answer().await.body).unwrap();
    server.stop();
    let folder = Folder::new();
    let file = folder.join("own.ics");
    std::fs::write(&file, feed.replace("SUMMARY:Own", "SUMMARY:Edited")).unwrap();
    program.done(&["import", file.to_str().unwrap()]);
    let file = folder.join("club.ics");
    let calendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:a@b\r\nSEQUENCE:2\r\n\
        DTSTAMP:20270101T000000Z\r\nCLASS:PRIVATE\r\nDTSTART:20200601T100000Z\r\nRRULE:FREQ=DAILY;COUNT=2\r\n\
        SUMMARY:Club\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:a@b\r\nSEQUENCE:2\r\n\
        DTSTAMP:20270101T000000Z\r\nCLASS:PRIVATE\r\nRECURRENCE-ID:20200602T100000Z\r\n\
        DTSTART:20200602T120000Z\r\nSUMMARY:Later\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    std::fs::write(&file, calendar).unwrap();
    program.done(&["import", file.to_str().unwrap()]);
    let peer = HttpPeer::start(|request| {
        let list = ["categories", "tags", "venues", "organizers"].into_iter();
        let list = list
            .clone()
            .find(|name| request.target.contains(&format!("/{name}?")))
            .unwrap_or("events");
        let items = if list == "tags" { json!([{"id": 20, "name": "Old"}]) } else { json!([]) };
        PeerAnswer::Body(200, json!({list: items, "total_pages": 1}).to_string())
    });
    program.done(&["import-site", &peer.url(""), "--allow-private", "--pause=1"]);
    let calendar = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:subscribed\r\nDTSTART:20410601T100000Z\r\n\
        SUMMARY:Subscribed\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let peer = HttpPeer::start(move |_| PeerAnswer::Body(200, calendar.to_owned()));
    // Servers do not reach the address later, so it stays unchanged.
    let add = ["subscriptions", "add", &peer.url("/c.ics"), "--subscription-allow-private=on"];
    program.done(&add);
    program.done(&["subscriptions", "run", "1", "--subscription-allow-private=on"]);
    program.done(&["subscriptions", "pause", "1"]);
}

/// Reads all lists and items as several roles. Returns path, status and body.
async fn walk(program: &Program) -> Vec<(String, u16, String)> {
    let keys = ROLES.map(|role| {
        let login = if role == "administrator" { "admin" } else { role };
        program.done(&["keys", "issue", login]).trim().to_owned()
    });
    let server = program.serve(&[]);
    let mut answers = Vec::new();
    for key in [""].into_iter().chain(keys.iter().map(String::as_str)) {
        let status = "publish,draft,private,pending,future,trash";
        let mut paths = vec![
            "/events?start_date=2020-01-01&end_date=2050-01-01".to_owned(),
            format!("/events?start_date=2020-01-01&end_date=2050-01-01&per_page=3&status={status}"),
            format!("/events?start_date=2020-01-01&end_date=2050-01-01&per_page=3&page=2&status={status}"),
            "/events?start_date=2020-01-01&end_date=2050-01-01&search=event".to_owned(),
            "/events?modified_after=2020-01-01".to_owned(),
            "/events?start_date=2020-01-01&categories=music&geoloc=true&geoloc_lat=47&geoloc_lng=15"
                .to_owned(),
            "/events/by-slug/renamed".to_owned(),
            "/venues".to_owned(),
            "/organizers".to_owned(),
            "/categories".to_owned(),
            "/tags".to_owned(),
            "/ical?start_date=2020-01-01&end_date=2050-01-01".to_owned(),
        ];
        for kind in ["events", "venues", "organizers", "categories", "tags", "images"] {
            paths.extend((1..=25).map(|id| format!("/{kind}/{id}")));
        }
        paths.extend((1..=25).map(|id| format!("/events/{id}?password=secret")));
        for path in paths {
            let request = server.get(&format!("{ROOT}{path}"));
            let request = if key.is_empty() { request } else { request.bearer_auth(key) };
            let answer = request.answer().await;
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            if path.starts_with("/ical") {
                assert!(body.contains("BEGIN:VEVENT"), "{body}");
            }
            answers.push((path, answer.status, body));
        }
    }
    for page in
        ["/events/", "/events/month/2041-04/", "/event/renamed/", "/event/event-0/", "/venue/hall/"]
    {
        let answer = server.get(page).answer().await;
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        answers.push((page.to_owned(), answer.status, body));
    }
    let found = |status| answers.iter().filter(|(_, found, _)| *found == status).count();
    assert!(found(200) > 100 && found(404) > 100, "{} {}", found(200), found(404));
    answers
}

fn same(left: &[(String, u16, String)], right: &[(String, u16, String)]) {
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().zip(right) {
        assert_eq!(left, right);
    }
}

#[actix_web::test]
async fn loaded_export_gives_the_same_answers_on_either_database() {
    let folder = Folder::new();
    let file = text(&folder, "calendar.export");
    let first = source();
    fill(&first).await;
    let answers = walk(&first).await;
    let exported = first.json(&["export", &file]);
    // Every table has rows.
    assert_eq!(exported["rows"].as_object().unwrap().len(), 24, "{exported}");
    assert_eq!(
        (exported["files"].clone(), exported["missing_files"].clone()),
        (json!(1), json!(0))
    );

    let second = program().with_database();
    let loaded = second.json(&["load", &file]);
    assert_eq!(loaded["rows"], exported["rows"]);
    let secret = loaded["webhooks"][0]["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("whsec_") && !written.contains(ADMIN_KEY));
    same(&answers, &walk(&second).await);

    // And back again.
    let back = text(&folder, "back.export");
    second.done(&["export", &back]);
    let third = program();
    third.done(&["load", &back]);
    same(&answers, &walk(&third).await);
    let rows = |file: &str| {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines()
            .filter(|line| line.starts_with("{\"row\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&file), rows(&back));

    // Ids of erased events are not reused.
    let key = third.done(&["keys", "issue", "admin"]);
    let server = third.serve(&[]);
    let event = json!({"title": "New", "start_date": "2041-05-01", "end_date": "2041-05-01"});
    let id = call(&server, "POST", "/events", key.trim(), event).await["id"].as_i64().unwrap();
    let most = rows(&back).iter().filter(|row| row.contains("\"entities\"")).count();
    assert!(id > i64::try_from(most).unwrap() + 1, "{id} {most}");
}

#[actix_web::test]
async fn ids_of_webhook_messages_are_not_reused_after_a_load() {
    let folder = Folder::new();
    // Each write of a draft sends one message.
    let event = json!({"title": "New", "start_date": "2041-05-01", "end_date": "2041-05-01",
        "status": "draft"});
    let last_id = |program: &Program, name: &str| {
        let file = text(&folder, name);
        program.done(&["export", &file]);
        let export = std::fs::read_to_string(&file).unwrap();
        let head: Value = serde_json::from_str(export.lines().next().unwrap()).unwrap();
        head["calendar_export"]["last_ids"]["webhook_outbox"].as_i64().unwrap()
    };
    let first = source();
    first.done(&["webhooks", "add", "https://mirror.example.org/hook"]);
    let server = first.serve(&[]);
    for _ in 0..2 {
        create(&server, "/events", event.clone()).await;
    }
    server.stop();
    assert_eq!(last_id(&first, "first.export"), 2);
    let second = program().with_database();
    second.done(&["load", &text(&folder, "first.export")]);
    let key = second.done(&["keys", "issue", "admin"]);
    let server = second.serve(&[]);
    call(&server, "POST", "/events", key.trim(), event).await;
    server.stop();
    assert_eq!(last_id(&second, "second.export"), 3);
}

/// Returns the file of the image in an export.
fn image_file(export: &str) -> String {
    let (_, rest) = export.split_once("\"file\":\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[actix_web::test]
async fn damaged_export_writes_nothing() {
    let folder = Folder::new();
    let file = text(&folder, "calendar.export");
    let first = source();
    fill(&first).await;
    first.done(&["export", &file]);
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let mut doubled = lines.clone();
    doubled.insert(5, lines[5]);
    let damaged = [
        (joined(&lines[..lines.len() - 1]), "is truncated: its last line is missing"),
        (whole[..whole.len() / 2].to_owned(), "is damaged or truncated"),
        (
            whole.replace(&image_file(&whole), "../admin-key"),
            "an image has a file name that a calendar never assigns",
        ),
        (whole.replace("Event 3", "Event 4"), "counts or checksum differ"),
        (joined(&doubled), "counts or checksum differ"),
        (
            whole.replacen("\"sticky\":false,", "", 1),
            "does not have the fields that this program expects",
        ),
        (format!("{whole}{}\n", lines[3]), "is after the end of the export"),
        (whole.replacen("\"version\":1", "\"version\":2", 1), "has format version 2"),
    ];
    let target = program().with_database();
    for (text, message) in damaged {
        let bad = folder.join("bad.export");
        std::fs::write(&bad, text).unwrap();
        let refused = target.run(&["load", bad.to_str().unwrap()]);
        assert_eq!(refused.code, Some(1), "{}", refused.errors);
        assert!(refused.errors.contains(message), "{message}: {}", refused.errors);
    }
    // Nothing was written, so the complete file can be loaded, but only once.
    target.done(&["load", &file]);
    let refused = target.run(&["load", &file]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("the database is not empty"), "{}", refused.errors);
}

#[actix_web::test]
async fn load_that_was_killed_resumes() {
    let folder = Folder::new();
    let file = text(&folder, "calendar.export");
    let first = source();
    let tags: String = (0..2000)
        .map(|number| format!("{{\"type\":\"tag\",\"name\":\"tag {number}\"}}\n"))
        .collect();
    assert_eq!(first.pipe(&["load", "-"], tags.as_bytes()).code, Some(0));
    first.done(&["export", &file]);
    let whole = std::fs::read(&file).unwrap();

    // The pipe never ends, so the load is waiting for its next line when it is killed.
    let target = program().with_database();
    let mut command = target.command(&["load", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&whole[..whole.len() * 3 / 4]).unwrap();
    pipe.flush().unwrap();
    testkit::until_blocking("some tags are loaded", || {
        let line = target.run(&["users", "list"]).errors;
        let line = line.split("ended after line ").nth(1).and_then(|rest| rest.split(';').next());
        line.and_then(|line| line.parse::<u32>().ok()) > Some(1000)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    // An incomplete calendar is not served, exported or changed.
    for arguments in
        [&["serve", "--bind=127.0.0.1:0"][..], &["export", "-"], &["purge", "--event=1"]]
    {
        let refused = target.run(arguments);
        assert_eq!(refused.code, Some(1), "{}", refused.errors);
        assert!(refused.errors.contains("has not finished"), "{}", refused.errors);
    }
    let other = text(&folder, "other.export");
    first.done(&["export", &other]);
    let refused = target.run(&["load", &other]);
    assert!(refused.errors.contains("the load of another export"), "{}", refused.errors);
    let resumed = target.run(&["load", &file]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.errors);
    assert!(resumed.errors.contains("resuming after line"), "{}", resumed.errors);
    target.done(&["export", &other]);
    let rows = |file: &str| {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines()
            .filter(|line| line.starts_with("{\"row\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&file), rows(&other));
}

#[actix_web::test]
async fn user_of_the_first_start_is_replaced_and_its_key_revoked() {
    let folder = Folder::new();
    let file = text(&folder, "calendar.export");
    let first = source().setting("ADMIN_LOGIN", "root");
    first.done(&["users", "add", "ann", "--role", "author"]);
    first.done(&["export", &file]);
    let other_key = "ffffffffffffffffffffffffffffffff";
    let second = program().setting("ADMIN_KEY", other_key).setting("ADMIN_LOGIN", "guest");
    let second = second.with_database();
    second.done(&["migrate"]);
    second.done(&["users", "list"]);
    let dry = second.run(&["load", &file, "--dry-run"]);
    assert!(dry.code == Some(0) && dry.out.contains("nothing was written"), "{}", dry.errors);
    second.done(&["load", &file]);
    assert_eq!(
        second.done(&["users", "list"]),
        "id\tlogin\trole\n1\troot\tadministrator\n2\tann\tauthor\n"
    );
    let server = second.serve(&[]);
    let request = server.get(&format!("{ROOT}/events")).bearer_auth(other_key);
    assert_eq!(request.answer().await.status, 401);
    server.stop();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[actix_web::test]
async fn load_is_refused_while_a_server_uses_the_database() {
    let folder = Folder::new();
    let file = text(&folder, "calendar.export");
    let first = source();
    first.done(&["migrate"]);
    first.done(&["users", "list"]);
    first.done(&["export", &file]);
    // With SQLite.
    let second = program();
    let server = second.serve(&[]);
    let refused = second.run(&["load", &file]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("is using the database; stop it"), "{}", refused.errors);
    server.stop();
    second.done(&["load", &file]);
}

#[test]
fn export_into_a_pipe_or_through_a_link_keeps_it() {
    let folder = Folder::new();
    let program = source();
    program.done(&["migrate"]);
    program.done(&["users", "list"]);
    let (null, link) = (folder.join("null"), folder.join("link"));
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    program.done(&["export", null.to_str().unwrap()]);
    std::fs::write(folder.join("old"), "old").unwrap();
    std::os::unix::fs::symlink("old", &link).unwrap();
    program.done(&["export", link.to_str().unwrap()]);
    assert!(null.is_symlink() && link.is_symlink());
    assert!(std::fs::read_to_string(folder.join("old")).unwrap().ends_with("}}\n"));

    let pipe = text(&folder, "pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    program.done(&["export", &pipe]);
    assert!(reader.join().unwrap().starts_with("{\"calendar_export\":"));
}
