//! Requests in progress during a shutdown.

use testkit::{Exchange, Program, stop_under_load};

#[test]
fn stop_loses_no_request() {
    let program = Program::new(env!("CARGO_BIN_EXE_breaches")).with_database();
    stop_under_load(&program, "/api/v3/breaches", &[("user-agent", "tests")]);
}

#[actix_web::test]
async fn last_use_of_a_key_is_recorded_at_a_stop() {
    let program = Program::new(env!("CARGO_BIN_EXE_breaches")).with_database();
    program.done(&["subscriber", "add", "owner@example.org"]);
    let key = program.done(&["keys", "issue", "owner@example.org"]);
    let served = program.serve(&[]);
    let request = served.get("/api/v3/subscription/status").header("breach-api-key", key.trim());
    let request = request.header("user-agent", "tests");
    assert_eq!(request.answer().await.status, 403);
    assert_eq!(served.stop(), Some(0));
    assert!(program.json(&["keys", "list"])[0]["last_used_at"].is_string());
}
