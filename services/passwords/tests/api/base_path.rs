//! The service when a proxy serves it below a path.

use testkit::{Exchange, Program, links_below};

#[actix_web::test]
async fn every_page_stays_below_the_path_of_the_public_url() {
    const URL: &str = "https://host.example/passwords";
    let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
    let server = program.setting("PUBLIC_URL", URL).serve(&[]);
    let get = async |path: &str| server.get(path).header("user-agent", "tests").answer().await;
    let starts = ["/", "/docs", "/docs/swagger-initializer.js", "/openapi.json", "/nothing"];
    let seen = links_below(URL, &starts, get).await;
    assert!(seen.contains("/docs/index.css"), "{seen:?}");
}
