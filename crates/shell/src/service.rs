//! The interface between a service and the shell.

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

/// The remaining middleware and the handler.
pub type Next = actix_web::middleware::Next<BoxBody>;

/// A service that the shell can run.
pub trait Service: Clone + Send + Sync + 'static {
    /// The constants of this service.
    const INFO: ServiceInfo;

    /// Returns the OpenAPI document without its paths: info, tags, security schemes. The shell adds licence and
    /// server.
    fn document() -> OpenApi;

    /// Returns the statuses that every operation can return in addition to those that it declares.
    /// The shell adds 413 to operations with a request body.
    fn shared_statuses() -> &'static [StatusCode] {
        &[StatusCode::INTERNAL_SERVER_ERROR, StatusCode::SERVICE_UNAVAILABLE]
    }

    /// Returns the body of error responses in the document, for operations that do not declare one.
    /// An error whose description contains "empty" does not get it.
    fn error_body() -> Option<ErrorBody> {
        None
    }

    /// Adds parts that several operations share to the finished document, such as response headers.
    fn amend(document: &mut OpenApi) {
        let _ = document;
    }

    /// Adds every operation of the service, in the order of the documentation.
    fn operations(routes: &mut Routes<'_>);

    /// Registers the state that handlers and extractors use.
    fn state(&self, config: &mut actix_web::web::ServiceConfig);

    /// Returns the error format for failures outside handlers.
    fn errors(&self) -> Arc<dyn ErrorFormat>;

    /// Returns the request headers that identify the caller, such as `Authorization`, if responses
    /// at a path depend on the caller.
    ///
    /// The shell sets `private, no-cache` for requests with one of them, and adds their names to
    /// `Vary` of all other responses. It does not change responses that are `no-store` or `public`.
    fn credentials(&self, path: &str) -> &[HeaderName] {
        let _ = path;
        &[]
    }

    /// Returns the layers of the shell that are enabled, and their rules.
    fn shell(&self) -> Shell {
        Shell::default()
    }

    /// Answers a request before middleware and routing, for the most frequent operations.
    /// Compression, CORS and path rules of the shell do not apply to these responses. Returns
    /// `None` for all other requests.
    ///
    /// Add such an operation with [`Routes::answered_first`].
    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        let _ = request;
        None
    }

    /// Runs the service's own middleware, after health checks and the redirect to HTTPS, and before
    /// CORS and routing.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move { next.call(request).await })
    }

    /// Checks whether the service is ready. Returns the reason if it is not.
    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the dependency that a ready service cannot reach, for operators. `/readyz` reports
    /// it and still returns 200, because another replica would not be better off.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Returns tasks that run as long as the server, such as reloading and housekeeping.
    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        Vec::new()
    }
}
