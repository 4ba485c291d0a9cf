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

/// The inner middleware layers and the handler.
pub type Next = actix_web::middleware::Next<BoxBody>;

/// A service that the shell can run.
pub trait Service: Clone + Send + Sync + 'static {
    /// The constants of this service.
    const INFO: ServiceInfo;

    /// Returns the OpenAPI document with its info, tags and security schemes, but without paths.
    /// The shell adds the license and the server.
    fn document() -> OpenApi;

    /// Returns the statuses that any operation can return, on top of those that it declares. The
    /// shell adds 413 for operations with a request body.
    fn shared_statuses() -> &'static [StatusCode] {
        &[StatusCode::INTERNAL_SERVER_ERROR, StatusCode::SERVICE_UNAVAILABLE]
    }

    /// Returns the documented body for error responses of operations that don't declare one. Errors
    /// with "empty" in their description are left without a body.
    fn error_body() -> Option<ErrorBody> {
        None
    }

    /// Adds anything that several operations share to the finished document, such as response
    /// headers.
    fn amend(document: &mut OpenApi) {
        let _ = document;
    }

    /// Adds all of the service's operations, in documentation order.
    fn operations(routes: &mut Routes<'_>);

    /// Registers state for handlers and extractors.
    fn state(&self, config: &mut actix_web::web::ServiceConfig);

    /// Returns the format for responses to failures outside of handlers.
    fn errors(&self) -> Arc<dyn ErrorFormat>;

    /// Returns the request headers that identify the caller, e.g. `Authorization`, if the responses
    /// at `path` depend on the caller.
    ///
    /// The shell adds them to the `Vary` header, and also sets `private, no-cache` if the request
    /// contains any of them. It leaves `no-store` and `public` responses alone.
    fn credentials(&self, path: &str) -> &[HeaderName] {
        let _ = path;
        &[]
    }

    /// Returns which of the shell's layers are enabled, and the rules for them.
    fn shell(&self) -> Shell {
        Shell::default()
    }

    /// Answers a request before middleware and routing, or returns `None`. This is meant for the
    /// hottest operations. The shell's compression, CORS and path rules don't apply to these
    /// responses.
    ///
    /// Declare such operations with [`Routes::answered_first`].
    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        let _ = request;
        None
    }

    /// Runs the service's own middleware, which comes after health checks and the redirect to
    /// HTTPS, but before CORS and routing.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move { next.call(request).await })
    }

    /// Adds headers to responses that [`Service::around`] doesn't see, i.e. health checks and the
    /// redirect to HTTPS.
    fn mark(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Checks whether the service is ready. If it isn't, the error is the reason.
    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// Names a dependency that a ready service can't reach, for the operator to see. `/readyz`
    /// mentions it but still returns 200, because other replicas can't reach it either.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Returns tasks that run as long as the server, e.g. for reloading and housekeeping. A task
    /// that panics isn't restarted, but mentioned by `/readyz`.
    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        Vec::new()
    }

    /// Writes data that is only in memory. A stopping server calls this after its last response,
    /// and aborts it after a second.
    fn last_writes(&self) -> LocalBoxFuture<'static, ()> {
        Box::pin(async {})
    }
}
