//! A minimal actix server, which is the baseline for the benchmark.
//!
//! Usage: `plain_json ADDRESS`. The server answers every request with one small JSON object.

use actix_web::{App, HttpResponse, HttpServer, web};

#[derive(serde::Serialize)]
struct Hello {
    message: &'static str,
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let hello = || async { HttpResponse::Ok().json(Hello { message: "Hello, World!" }) };
    HttpServer::new(move || App::new().default_service(web::to(hello)))
        .workers(1)
        .bind(address)?
        .run()
        .await
}
