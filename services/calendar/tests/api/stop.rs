//! Requests in progress during a shutdown.

use testkit::{Program, stop_under_load};

#[test]
fn shutdown_answers_every_request_under_way() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("RATE_READ_RPM", "0");
    stop_under_load(&program, "/calendar/events/v1/events", &[]);
}
