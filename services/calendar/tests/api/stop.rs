//! What a stop does to requests under way.

use testkit::{Program, stop_under_load};

#[test]
fn a_stop_loses_no_request() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("RATE_READ_RPM", "0");
    stop_under_load(&program, "/calendar/events/v1/events", &[]);
}
