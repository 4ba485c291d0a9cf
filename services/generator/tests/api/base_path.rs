//! The service when a proxy serves it below a path.

use testkit::{Exchange, Program, links_below};

#[actix_web::test]
async fn every_page_stays_below_the_path_of_the_public_url() {
    const URL: &str = "https://host.example/generator";
    let program = Program::new(env!("CARGO_BIN_EXE_generator")).with_database();
    let server = program.setting("PUBLIC_URL", URL).serve(&[]);
    let starts = ["/", "/docs", "/docs/swagger-initializer.js", "/openapi.json", "/nothing"];
    let seen = links_below(URL, &starts, async |path| server.get(path).answer().await).await;
    assert!(seen.contains("/docs/index.css"), "{seen:?}");
}
