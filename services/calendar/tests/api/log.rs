//! Requests in the log.

use testkit::{Program, log_without};

#[actix_web::test]
async fn log_shows_route_patterns_instead_of_paths_at_any_level() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    let program = program.setting("RUST_LOG", "trace");
    let served = program.serve(&[]);
    let paths = [
        "/calendar/events/v1/events?password=hush&page=1",
        "/wp-json/tribe/events/v1/events?%70assword=hush",
        "/calendar/events/v1/events?search=hush&password[]=hush",
        "/calendar/events/v1/events/by-slug/hush",
        "/event/hush/?password=hush",
        "/media/1/hush.png",
        "/events/?q=hush",
        "/hush/hush",
    ];
    let lines = log_without(&served, &paths, &["hush"]).await;
    let seen = |path: &str| lines.iter().any(|line| line.contains(&format!(" path={path} ")));
    for path in ["/calendar/events/v1/events", "/calendar/events/v1/events/by-slug/{slug}"] {
        assert!(seen(path), "{path} is not in {lines:?}");
    }
}
