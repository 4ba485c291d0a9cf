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

    /// Returns the statuses that every operation can answer in addition to those that it declares. The shell adds
    /// 413 to operations with a request body.
    fn shared_statuses() -> &'static [StatusCode] {
        &[StatusCode::INTERNAL_SERVER_ERROR, StatusCode::SERVICE_UNAVAILABLE]
    }

    /// Returns the body of error responses in the document, for operations that declare none. The
    /// description of an error without a body contains "empty".
    fn error_body() -> Option<ErrorBody> {
        None
    }

    /// Adds common parts to the finished document, such as response headers of several operations.
    fn amend(document: &mut OpenApi) {
        let _ = document;
    }

    /// Adds every operation of the service, in the order of the documentation.
    fn operations(routes: &mut Routes<'_>);

    /// Registers the state that handlers and extractors take.
    fn state(&self, config: &mut actix_web::web::ServiceConfig);

    /// Returns the body format of failures outside handlers.
    fn errors(&self) -> Arc<dyn ErrorFormat>;

    /// Returns the request headers that identify the caller, such as `Authorization`, if answers at
    /// a path depend on the caller.
    ///
    /// The shell sets `private, no-cache` for requests with one of them, and adds the names to
    /// `Vary` of all other responses. It does not change answers that are `no-store` or `public`.
    fn credentials(&self, path: &str) -> &[HeaderName] {
        let _ = path;
        &[]
    }

    /// Returns the layers of the shell that are on, and their rules.
    fn shell(&self) -> Shell {
        Shell::default()
    }

    /// Answers a request before middleware and routing, for the most frequent operations.
    /// Compression, CORS and path rules of the shell do not apply to these responses.
    ///
    /// Add such an operation with [`Routes::answered_first`].
    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        let _ = request;
        None
    }

    /// Runs the service's own middleware: after health and 301, before CORS and routing.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move { next.call(request).await })
    }

    /// Returns whether the service can work, or why not.
    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns what a service that can work cannot reach, for operators. `/readyz` shows it and stays 200,
    /// because another replica would be no better.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Tasks that run as long as the server does, such as reloading and housekeeping.
    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        Vec::new()
    }
}
