//! What a service tells the shell about itself.

use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::{Error, HttpResponse};
use futures_util::future::LocalBoxFuture;
use utoipa::openapi::OpenApi;

use crate::info::{ErrorBody, ServiceInfo};
use crate::{ErrorFormat, Routes, Shell};

/// What comes after a middleware.
pub type Next = actix_web::middleware::Next<BoxBody>;

/// A service that the shell can run.
pub trait Service: Clone + Send + Sync + 'static {
    /// The constants of this service.
    const INFO: ServiceInfo;

    /// The OpenAPI document without its paths: info, tags, security schemes; the shell adds licence and
    /// server.
    fn document() -> OpenApi;

    /// Statuses that every operation may answer beside those that it names; the shell adds 413 where
    /// an operation reads a body.
    fn shared_statuses() -> &'static [StatusCode] {
        &[StatusCode::INTERNAL_SERVER_ERROR, StatusCode::SERVICE_UNAVAILABLE]
    }

    /// The body that error answers have in the document where an operation names none; an
    /// operation whose error is without one says "empty" in its description.
    fn error_body() -> Option<ErrorBody> {
        None
    }

    /// Adds to the finished document what many operations share, such as headers of answers.
    fn amend(document: &mut OpenApi) {
        let _ = document;
    }

    /// Adds every operation of the service, in the order of the documentation.
    fn operations(routes: &mut Routes<'_>);

    /// Registers the state that handlers and extractors take.
    fn state(&self, config: &mut actix_web::web::ServiceConfig);

    /// The body format of failures outside handlers.
    fn errors(&self) -> Arc<dyn ErrorFormat>;

    /// The request headers that say who asks, such as `Authorization`, where answers at a path depend
    /// on that; none where they do not.
    ///
    /// The shell makes answers to requests that have one `private, no-cache`, and has all others
    /// `Vary` by these names. Answers that are `no-store` or `public` stay as their handlers made them.
    fn credentials(&self, path: &str) -> &[HeaderName] {
        let _ = path;
        &[]
    }

    /// Which layers of the shell are on, and their rules.
    fn shell(&self) -> Shell {
        Shell::default()
    }

    /// Answers a request before the middleware and the routing, for operations whose speed counts
    /// most; the shell's compression, CORS and path rules do not see these answers.
    ///
    /// Such an operation is added with [`Routes::answered_first`].
    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        let _ = request;
        None
    }

    /// The service's own middleware: runs behind health and 301, before CORS and routing.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move { next.call(request).await })
    }

    /// Whether the service can do its work; the text says why not.
    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// Tasks that run as long as the server does, such as reloading and housekeeping.
    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        Vec::new()
    }
}
