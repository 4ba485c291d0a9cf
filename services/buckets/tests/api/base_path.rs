//! The service behind a proxy that serves it below a path.

use testkit::{Exchange, Program, links_below};

#[actix_web::test]
async fn links_include_path_of_public_url() {
    const URL: &str = "https://host.example/buckets";
    let program = Program::new(env!("CARGO_BIN_EXE_buckets")).with_database();
    let server = program.setting("PUBLIC_URL", URL).serve(&[]);
    let starts = ["/", "/docs", "/docs/swagger-initializer.js", "/openapi.json", "/nothing"];
    let seen = links_below(URL, &starts, async |path| server.get(path).answer().await).await;
    assert!(seen.contains("/docs/index.css"), "{seen:?}");
}
