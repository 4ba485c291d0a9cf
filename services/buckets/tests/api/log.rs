//! Contents of the log.

use testkit::{Program, log_without};

#[actix_web::test]
async fn log_has_route_patterns_at_any_level() {
    let program = Program::new(env!("CARGO_BIN_EXE_buckets")).with_database();
    let key = program.done(&["keys", "issue", "alice", "--plan", "enterprise"]).trim().to_owned();
    let program = program.setting("RUST_LOG", "trace");
    let served = program.serve(&[]);
    let search = format!("/api/v2/files?access_token={key}&keywords=hush");
    let expression = format!("/api/v2/files?access_token={key}&keywords=hu.*sh&regexp=1");
    let paths = [
        search.as_str(),
        &expression,
        "/api/v2/files?keywords=hush",
        "/api/v2/buckets?keywords=hush",
        "/api/v2/files;hush",
        "/hush",
    ];
    let secrets = ["hush", "hu.*sh", &key, &key[..6]];
    let lines = log_without(&served, &paths, &secrets).await;
    assert!(lines[0].contains(" key=1 ") && lines[0].contains(" path=/api/v2/files "), "{lines:?}");
}
