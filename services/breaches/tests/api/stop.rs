//! Requests in progress during a shutdown.

use testkit::{Program, stop_under_load};

#[test]
fn stop_loses_no_request() {
    let program = Program::new(env!("CARGO_BIN_EXE_breaches")).with_database();
    stop_under_load(&program, "/api/v3/breaches", &[("user-agent", "tests")]);
}
