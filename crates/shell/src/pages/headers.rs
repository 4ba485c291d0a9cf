//! Security headers for pages.

use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::page::Page;

/// Content security policy for pages. Allows only the service's own files, and nothing inline.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";

/// Adds the pages' security headers to a response.
pub(super) fn protect(response: &mut HttpResponseBuilder) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.insert_header((name, HeaderValue::from_static(value)));
    }
}

/// Relaxes the policy for pages that show images from other origins or can be framed by other
/// sites. Image origins that aren't valid are ignored.
pub(super) fn adapt(response: &mut HttpResponse, page: &Page<'_>) {
    if page.image_origins.is_empty() && page.embedding.is_none() {
        return;
    }
    let is_origin = |origin: &&&str| {
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        host.is_some_and(|host| !host.is_empty() && host.bytes().all(fits))
    };
    let origins = page.image_origins.iter().filter(is_origin);
    let images = origins.fold("img-src 'self' data:".to_owned(), add);
    let mut policy = POLICY.replace("img-src 'self' data:", &images);
    if let Some(embedding) = page.embedding {
        let ancestors = format!("frame-ancestors {}", embedding.ancestors);
        policy = policy.replace("frame-ancestors 'none'", &ancestors);
    }
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

fn add(sources: String, origin: &&str) -> String {
    sources + " " + origin
}
