//! Backups and what is restored from them.

use testkit::{Exchange, Folder, Program};

#[actix_web::test]
async fn restored_service_answers_as_before() {
    let program = Program::new(env!("CARGO_BIN_EXE_breaches"));
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/breaches/catalogue.json");
    program.done(&["catalogue", "import", samples]);
    let server = program.serve(&[]);
    let folder = Folder::new();
    let copy = folder.join("copy");
    let copy = copy.to_str().unwrap();
    program.done(&["backup", copy]);

    let other = Program::new(env!("CARGO_BIN_EXE_breaches"));
    other.done(&["restore", copy]);
    other.done(&["doctor"]);
    let restored = other.serve(&[]);
    for path in ["/api/v3/breaches", "/api/v3/dataclasses", "/api/v3/latestbreach"] {
        let get = |request: reqwest::RequestBuilder| request.header("user-agent", "tests").answer();
        let (ours, theirs) = (get(server.get(path)).await, get(restored.get(path)).await);
        assert_eq!((ours.status, ours.body), (200, theirs.body), "{path}");
    }
}
