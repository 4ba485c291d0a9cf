//! Requests during a shutdown.

use testkit::{Exchange, Program, stop_under_load};

#[test]
fn stop_completes_pending_requests() {
    let program = Program::new(env!("CARGO_BIN_EXE_buckets")).with_database();
    let key = program.done(&["keys", "issue", "tester", "--plan", "premium"]);
    let key = format!("Bearer {}", key.trim());
    stop_under_load(&program, "/api/v2/files?keywords=backup", &[("authorization", &key)]);
}

#[actix_web::test]
async fn last_use_of_a_key_is_recorded_at_a_stop() {
    let program = Program::new(env!("CARGO_BIN_EXE_buckets")).with_database();
    let key = program.done(&["keys", "issue", "tester", "--plan", "premium"]);
    let key = format!("Bearer {}", key.trim());
    let served = program.serve(&[]);
    let request = served.get("/api/v2/files?keywords=backup").header("authorization", key);
    assert_eq!(request.answer().await.status, 200);
    assert_eq!(served.stop(), Some(0));
    assert!(program.json(&["keys", "list"])[0]["last_used_at"].is_string());
}
