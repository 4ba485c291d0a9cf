//! The `/healthz` and `/readyz` health checks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use tokio::sync::watch;

use crate::Service;
use crate::connection::Drain;

/// Whether the server is draining.
#[derive(Clone, Debug)]
pub(crate) struct Draining(watch::Sender<bool>);

impl Default for Draining {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Draining {
    pub(crate) fn begin(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_on(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns a receiver for connections to wait until the server starts draining.
    pub(crate) fn signal(&self) -> Drain {
        Drain::new(self.0.subscribe())
    }
}

/// Whether one of the service's background tasks has panicked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background(Arc<AtomicBool>);

impl Background {
    /// Runs a background task. If the task panics, the server keeps responding to requests, but
    /// readiness checks mention the panic.
    pub(crate) async fn run(self, task: LocalBoxFuture<'static, ()>) {
        if AssertUnwindSafe(task).catch_unwind().await.is_err() {
            log::error!("a background task panicked: restart the server to resume its work");
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn failure(&self) -> Option<String> {
        self.0.load(Ordering::Relaxed).then(|| "background work, which panicked".to_owned())
    }
}

/// Returns whether `path` is a health check. These are answered before any other layer runs.
pub(crate) fn is_health(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// Responds to `/healthz` and `/readyz`.
pub(crate) async fn answer<S: Service>(
    path: &str,
    service: &S,
    draining: &Draining,
    background: &Background,
) -> HttpResponse {
    if path == "/healthz" {
        return text(HttpResponse::Ok(), "alive\n".to_owned());
    }
    if draining.is_on() {
        return text(HttpResponse::ServiceUnavailable(), "stopping\n".to_owned());
    }
    match service.ready().await {
        Ok(()) => {
            let missing: Vec<_> =
                service.missing().into_iter().chain(background.failure()).collect();
            let missing = match missing.as_slice() {
                [] => String::new(),
                missing => format!(", except {}", missing.join(" and ")),
            };
            text(HttpResponse::Ok(), format!("ready{missing}\n"))
        }
        Err(reason) => text(HttpResponse::ServiceUnavailable(), format!("not ready: {reason}\n")),
    }
}

fn text(mut builder: actix_web::HttpResponseBuilder, body: String) -> HttpResponse {
    builder
        .insert_header(ContentType::plaintext())
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body)
}
