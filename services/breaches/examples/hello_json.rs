//! The benchmark baseline: actix serving one small JSON object.
//!
//! Usage: `hello_json PORT`. One worker, no middleware.

use actix_web::{App, HttpResponse, HttpServer, web};

async fn answer() -> HttpResponse {
    HttpResponse::Ok().json([("Name", "Acmegram")])
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(8080);
    HttpServer::new(|| App::new().default_service(web::to(answer)))
        .workers(1)
        .bind(("127.0.0.1", port))?
        .run()
        .await
}
