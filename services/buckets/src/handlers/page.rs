//! The search page at `/`.

use std::sync::LazyLock;

use actix_web::http::header;
use actix_web::{HttpResponse, Responder};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const HTML: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

struct Page {
    html: String,
    policy: String,
}

/// Style and script stand inside the page; the policy names them by their digests.
static PAGE: LazyLock<Page> = LazyLock::new(|| Page {
    html: HTML.replace("/*style*/", STYLE).replace("/*script*/", SCRIPT),
    policy: format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        digest(STYLE),
        digest(SCRIPT)
    ),
});

fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Answers the page.
pub async fn page() -> impl Responder {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE.policy.as_str()))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(PAGE.html.as_str())
}
