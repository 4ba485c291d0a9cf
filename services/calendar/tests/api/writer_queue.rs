//! Write requests while another process loads data.
//!
//! The gaps that the load leaves for them are tested in `crates/database/src/writer_queue.rs`.

use serde_json::json;
use testkit::Program;

const LINES: usize = 1_500;

#[actix_web::test]
async fn requests_write_during_a_load() {
    // Requests also wait for jobs of the same process, so the load runs in a separate one.
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("RATE_WRITE_RPM", "0");
    let server = program.serve(&[]);
    let key = std::fs::read_to_string(program.folder().join("admin-key")).unwrap();
    let event = |title: String| json!({"type": "event", "title": title, "start_date": "+3 days 19:30", "end_date": "+3 days 22:00"});
    let file = program.folder().join("events.ndjson");
    let lines: String =
        (0..LINES).map(|number| format!("{}\n", event(format!("Line {number}")))).collect();
    std::fs::write(&file, lines).unwrap();
    let mut load = program.start(&["load".as_ref(), file.as_os_str()]);
    let url = format!("http://{}/calendar/events/v1/events", server.http());
    let client = reqwest::Client::new();
    let mut written = 0;
    while !load.has_ended() {
        let request = client.post(&url).header("x-api-key", key.trim());
        let body = event(format!("by request {written}")).to_string();
        let answer = request.header("content-type", "application/json").body(body).send().await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
        written += 1;
    }
    assert_eq!(load.wait(), Some(0));
    assert!(written > 0);
}
