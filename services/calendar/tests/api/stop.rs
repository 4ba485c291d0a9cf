//! Requests in progress during a shutdown.

use testkit::{Exchange, Program, stop_under_load};

#[test]
fn shutdown_answers_every_request_under_way() {
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("RATE_READ_RPM", "0");
    stop_under_load(&program, "/calendar/events/v1/events", &[]);
}

#[actix_web::test]
async fn last_use_of_a_key_is_recorded_at_a_stop() {
    let key = "0123456789abcdef0123456789abcdef";
    let program =
        Program::new(env!("CARGO_BIN_EXE_calendar")).with_database().setting("ADMIN_KEY", key);
    let served = program.serve(&[]);
    let request = served.get("/calendar/events/v1/events").header("x-api-key", key);
    assert_eq!(request.answer().await.status, 200);
    assert_eq!(served.stop(), Some(0));
    assert!(program.json(&["keys", "list"])[0]["last_used_at"].is_string());
}
