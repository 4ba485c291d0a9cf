//! Stopping while requests are in progress.

use testkit::{Program, stop_under_load};

#[test]
fn a_stop_loses_no_request() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"))
        .with_database()
        .setting("ANONYMOUS_RPM", "1000000")
        .setting("ANONYMOUS_BURST", "1000000");
    stop_under_load(&program, "/api/Card?type=Visa", &[]);
}
