//! What a stop does to requests under way.

use testkit::{Program, stop_under_load};

#[test]
fn a_stop_loses_no_request() {
    let program = Program::new(env!("CARGO_BIN_EXE_buckets")).with_database();
    let key = program.done(&["keys", "issue", "tester", "--plan", "premium"]);
    let key = format!("Bearer {}", key.trim());
    stop_under_load(&program, "/api/v2/files?keywords=backup", &[("authorization", &key)]);
}
