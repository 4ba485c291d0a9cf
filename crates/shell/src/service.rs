//! The interface between a service and the shell.

use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::{Error, HttpResponse};
use futures_util::future::LocalBoxFuture;
use utoipa::openapi::OpenApi;

use crate::info::{ErrorBody, ServiceInfo};
use crate::{ErrorFormat, Routes, Shell};

/// The rest of the middleware, and the handler.
pub type Next = actix_web::middleware::Next<BoxBody>;

/// A service that the shell can run.
pub trait Service: Clone + Send + Sync + 'static {
    /// This service's constants.
    const INFO: ServiceInfo;

    /// Returns the OpenAPI document without its paths, but with info, tags and security schemes.
    /// The shell adds the license and the server.
    fn document() -> OpenApi;

    /// Returns the statuses that any operation can return in addition to those it declares. The
    /// shell adds 413 to operations with a request body.
    fn shared_statuses() -> &'static [StatusCode] {
        &[StatusCode::INTERNAL_SERVER_ERROR, StatusCode::SERVICE_UNAVAILABLE]
    }

    /// Returns the documented body for error responses of operations that don't declare one. Errors
    /// with "empty" in their description don't get it.
    fn error_body() -> Option<ErrorBody> {
        None
    }

    /// Adds what several operations share to the finished document, such as response headers.
    fn amend(document: &mut OpenApi) {
        let _ = document;
    }

    /// Adds all of the service's operations, in documentation order.
    fn operations(routes: &mut Routes<'_>);

    /// Registers state for handlers and extractors.
    fn state(&self, config: &mut actix_web::web::ServiceConfig);

    /// Returns the format for failures outside of handlers.
    fn errors(&self) -> Arc<dyn ErrorFormat>;

    /// If a path's responses depend on the caller, returns the request headers that identify it,
    /// such as `Authorization`.
    ///
    /// The shell adds them to the response's `Vary`, and if the request has one of them, also sets
    /// `private, no-cache`. It leaves `no-store` and `public` responses alone.
    fn credentials(&self, path: &str) -> &[HeaderName] {
        let _ = path;
        &[]
    }

    /// Returns which of the shell's layers are enabled, and their rules.
    fn shell(&self) -> Shell {
        Shell::default()
    }

    /// Answers a request before middleware and routing. Use this for the most frequent operations.
    /// The shell's compression, CORS and path rules don't apply to these responses. Returns `None`
    /// for all other requests.
    ///
    /// Add such an operation with [`Routes::answered_first`].
    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        let _ = request;
        None
    }

    /// Runs the service's own middleware. It comes after health checks and the redirect to HTTPS,
    /// and before CORS and routing.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move { next.call(request).await })
    }

    /// Adds headers to the responses that [`Service::around`] doesn't see: health checks and the
    /// redirect to HTTPS.
    fn mark(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Checks whether the service is ready, and returns the reason if it isn't.
    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns a dependency that a ready service can't reach, for operators. `/readyz` mentions it
    /// but still returns 200, because another replica wouldn't be any better off.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Returns tasks that run for the server's whole lifetime, such as reloading and housekeeping.
    /// A task that panics isn't restarted, and `/readyz` mentions it.
    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        Vec::new()
    }
}
