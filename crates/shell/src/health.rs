//! The `/healthz` and `/readyz` health checks.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, ContentType};

use tokio::sync::watch;

use crate::Service;
use crate::connection::Drain;

/// Set while the server is draining.
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

    /// Returns a receiver for connections that wait for draining to start.
    pub(crate) fn signal(&self) -> Drain {
        Drain::new(self.0.subscribe())
    }
}

/// Returns whether a path is a health check. These are answered before any other layer runs.
pub(crate) fn is_health(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// Responds to `/healthz` and `/readyz`.
pub(crate) async fn answer<S: Service>(
    path: &str,
    service: &S,
    draining: &Draining,
) -> HttpResponse {
    if path == "/healthz" {
        return text(HttpResponse::Ok(), "alive\n".to_owned());
    }
    if draining.is_on() {
        return text(HttpResponse::ServiceUnavailable(), "stopping\n".to_owned());
    }
    match service.ready().await {
        Ok(()) => text(
            HttpResponse::Ok(),
            match service.missing() {
                Some(missing) => format!("ready, except {missing}\n"),
                None => "ready\n".to_owned(),
            },
        ),
        Err(reason) => text(HttpResponse::ServiceUnavailable(), format!("not ready: {reason}\n")),
    }
}

fn text(mut builder: actix_web::HttpResponseBuilder, body: String) -> HttpResponse {
    builder
        .insert_header(ContentType::plaintext())
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body)
}
