//! The baseline for benchmarks: an actix server with a constant body of 32 KB.
//!
//! Usage: `constant_body PORT`. It has one worker and does not use any middleware.

use actix_web::web::Bytes;
use actix_web::{App, HttpResponse, HttpServer, web};

static BODY: [u8; 32 * 1024] = [b'A'; 32 * 1024];

async fn answer() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(Bytes::from_static(&BODY))
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
