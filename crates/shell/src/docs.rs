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

/// Content security policy for the pages. Allows this service's files and Swagger UI's inline
/// styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";
/// Caches must revalidate every response.
const CACHING: &str = "no-cache";

/// The document and Swagger UI's files, each compressed only once.
pub(crate) struct Docs {
    document: Content,
    config: Arc<Config<'static>>,
    files: Mutex<HashMap<String, Arc<Content>>>,
}

impl Docs {
    pub(crate) fn new(document: String) -> Self {
        Self {
            document: Content::new("application/json", document),
            // Relative to the pages, so it works below any path on a proxy.
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

    /// Returns a Swagger UI file, or `None` for an unknown name. Misses aren't cached.
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
