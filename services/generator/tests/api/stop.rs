//! Stopping while requests are in progress.

use testkit::{Exchange, Program, stop_under_load};

#[test]
fn a_stop_loses_no_request() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"))
        .with_database()
        .setting("ANONYMOUS_RPM", "1000000")
        .setting("ANONYMOUS_BURST", "1000000");
    stop_under_load(&program, "/api/Card?type=Visa", &[]);
}

#[actix_web::test]
async fn last_use_of_a_key_is_recorded_at_a_stop() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator")).with_database();
    let key = program.done(&["keys", "issue", "ann"]);
    let served = program.serve(&[]);
    let request = served.get("/api/Card?type=Visa").header("x-api-key", key.trim());
    assert_eq!(request.answer().await.status, 200);
    assert_eq!(served.stop(), Some(0));
    assert!(program.json(&["keys", "list"])[0]["last_used_at"].is_string());
}
