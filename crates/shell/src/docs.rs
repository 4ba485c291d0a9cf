//! Serves the OpenAPI document and Swagger UI.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::http::header::{self, HeaderValue};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, guard};
use parking_lot::Mutex;
use utoipa_swagger_ui::Config;

use crate::Fault;
use crate::pages::Content;

/// Content security policy for Swagger UI. Allows the service's own files, and the inline styles
/// that Swagger UI uses.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";
/// Makes caches revalidate every response.
const CACHING: &str = "no-cache";

/// The OpenAPI document and the files of Swagger UI, each compressed only once.
pub(crate) struct Docs {
    document: Content,
    config: Arc<Config<'static>>,
    files: Mutex<HashMap<String, Arc<Content>>>,
}

impl Docs {
    pub(crate) fn new(document: String) -> Self {
        Self {
            document: Content::new("application/json", document),
            // The URL is relative to the pages, so it works below any path on a proxy.
            config: Arc::new(Config::from("../openapi.json")),
            files: Mutex::default(),
        }
    }

    /// Registers the routes for the document and the pages.
    pub(crate) fn serve(self: &Arc<Self>, config: &mut web::ServiceConfig) {
        let (docs, pages) = (Arc::clone(self), Arc::clone(self));
        let document = move |request: HttpRequest| {
            let docs = Arc::clone(&docs);
            async move { docs.document.respond(&request, CACHING, |_| {}) }
        };
        let page = move |name: web::Path<String>, request: HttpRequest| {
            let docs = Arc::clone(&pages);
            async move { docs.page(&name, &request) }
        };
        config
            .service(web::redirect("/docs", "/docs/"))
            .service(web::resource("/openapi.json").guard(guard::Get()).to(document))
            .service(web::resource("/docs/{name:.*}").guard(guard::Get()).to(page));
    }

    fn page(&self, name: &str, request: &HttpRequest) -> HttpResponse {
        match self.file(name) {
            Some(file) => file.respond(request, CACHING, protect),
            None => Fault::NotFound.response(request),
        }
    }

    /// Returns a file of Swagger UI, or `None` if `name` is unknown. Misses aren't cached.
    fn file(&self, name: &str) -> Option<Arc<Content>> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(name) {
            return Some(Arc::clone(file));
        }
        let found = utoipa_swagger_ui::serve(name, Arc::clone(&self.config));
        let found = found.unwrap_or_else(|error| {
            log::error!("cannot serve {name} of Swagger UI: {error}");
            None
        })?;
        let content =
            Arc::new(Content::new(found.content_type, Bytes::from(found.bytes.into_owned())));
        files.insert(name.to_owned(), Arc::clone(&content));
        Some(content)
    }
}

/// Adds the pages' security headers.
fn protect(response: &mut HttpResponseBuilder) {
    for (name, value) in
        [(header::CONTENT_SECURITY_POLICY, POLICY), (header::REFERRER_POLICY, "no-referrer")]
    {
        response.insert_header((name, HeaderValue::from_static(value)));
    }
}
