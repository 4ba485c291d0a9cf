//! Requests during a shutdown.

use testkit::{Program, stop_under_load};

#[test]
fn stop_completes_pending_requests() {
    let program = Program::new(env!("CARGO_BIN_EXE_buckets")).with_database();
    let key = program.done(&["keys", "issue", "tester", "--plan", "premium"]);
    let key = format!("Bearer {}", key.trim());
    stop_under_load(&program, "/api/v2/files?keywords=backup", &[("authorization", &key)]);
}
