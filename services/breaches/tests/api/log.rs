//! The request log does not contain secrets.

use testkit::{Program, log_without};

#[actix_web::test]
async fn log_shows_route_patterns_only_at_any_level() {
    let program = Program::new(env!("CARGO_BIN_EXE_breaches")).with_database();
    let program = program.setting("RUST_LOG", "trace");
    let served = program.serve(&[]);
    let paths = [
        "/api/v3/breachedaccount/hush@hush.example",
        "/api/v3/breachedaccount/range/ABCDEF",
        "/api/v3/breacheddomain/hush.example",
        "/api/v3/stealerlogsbywebsitedomain/hush.example",
        "/api/v3/stealerlogsbyemaildomain/hush.example",
        "/api/v3/breach/hush",
        "/api/v3/breaches?Domain=hush.example",
        "/breaches?q=hush",
        "/account/domains/hush.example/export/hush",
        "/sign-in/confirm?token=hush",
        "/hush",
    ];
    let lines = log_without(&served, &paths, &["hush", "ABCDEF"]).await;
    let path = " path=/api/v3/breachedDomain/{domain} ";
    assert!(lines.iter().any(|line| line.contains(path)), "{lines:?}");
}
