//! Backups, and what can be restored from them.

use testkit::{Exchange, Fixture, Folder, Program};

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

async fn serves_the_samples(program: Program) {
    program.done(&["doctor"]);
    let key = program.done(&["keys", "issue", "demo@example.com"]);
    let server = program.serve(&[]);
    let path = "/api/v3/breachedaccount/vito_grove@post.example";
    let request = server.get(path).header("breach-api-key", key.trim());
    let found = request.header("user-agent", "tests").answer().await.expect(200).json();
    assert!(found.as_array().is_some_and(|breaches| !breaches.is_empty()), "{found}");
}

#[actix_web::test]
async fn data_of_every_version_are_served() {
    let program = || Program::new(env!("CARGO_BIN_EXE_breaches"));
    for fixture in Fixture::all("breaches") {
        serves_the_samples(fixture.restored(program())).await;
        if let Some(program) = fixture.on_server(program()) {
            serves_the_samples(program).await;
        }
    }
}
