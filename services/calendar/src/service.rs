//! Integrates the calendar into the shell.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::web::Data;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use shell::{ErrorBody, ErrorFormat, Next, Routes, Service, ServiceInfo, Shell};
use utoipa::openapi::OpenApi;

use crate::error::ErrorBodies;
use crate::jobs::{
    deliver_forever, empty_trash, extend_series, measure_messages, measure_subscriptions,
    prune_changes, prune_messages, publish_due, refresh_index, review_series,
    run_subscriptions_forever,
};
use crate::state::{Document, State};
use crate::{metrics, openapi, routes};

/// How often to look for publications that are due.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(60);

/// How often to update the event index from the change log. List requests that need the index also
/// update it.
const INDEX_INTERVAL: Duration = Duration::from_secs(5);

/// The calendar service, for registration with the shell.
#[derive(Clone)]
pub struct Calendar {
    pub state: State,
}

impl Service for Calendar {
    const INFO: ServiceInfo = ServiceInfo::new(
        "calendar",
        "Events calendar",
        "Serves a calendar of events as a REST API, web pages and iCalendar feeds",
        env!("CARGO_PKG_VERSION"),
        8085,
    )
    .files(&["admin-key", "media"]);

    fn document() -> OpenApi {
        openapi::document(&Self::INFO)
    }

    fn amend(document: &mut OpenApi) {
        openapi::amend(document);
    }

    fn shared_statuses() -> &'static [StatusCode] {
        &[
            // Invalid credentials are rejected even where credentials aren't needed.
            StatusCode::UNAUTHORIZED,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::INTERNAL_SERVER_ERROR,
            StatusCode::SERVICE_UNAVAILABLE,
        ]
    }

    fn error_body() -> Option<ErrorBody> {
        Some(ErrorBody { schema: "Error", media_type: "application/json" })
    }

    fn operations(routes: &mut Routes<'_>) {
        routes::register(routes);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(Data::new(self.state.clone()));
        config.app_data(Data::new(Document::new(document)));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(ErrorBodies)
    }

    fn credentials(&self, path: &str) -> &[HeaderName] {
        routes::credentials(path)
    }

    fn shell(&self) -> Shell {
        Shell { paths: routes::PATHS, stop_when_client_leaves: true, ..Shell::default() }
    }

    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>> {
        let settings = &self.state.site.settings;
        let site = (settings.alias_prefix.is_on(), settings.per_page);
        Box::pin(routes::around(request, next, site))
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let pools = self.state.pools.clone();
        Box::pin(async move { pools.ready().await.map_err(|error| error.to_string()) })
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        metrics::show();
        let state = self.state.clone();
        let reviewing = async move {
            while !review_series(&state).await {
                tokio::time::sleep(PUBLISH_INTERVAL).await;
            }
        };
        let state = self.state.clone();
        let publishing = async move {
            loop {
                publish_due(&state).await;
                extend_series(&state).await;
                empty_trash(&state).await;
                prune_changes(&state).await;
                prune_messages(&state).await;
                measure_messages(&state).await;
                measure_subscriptions(&state).await;
                tokio::time::sleep(PUBLISH_INTERVAL).await;
            }
        };
        let state = self.state.clone();
        let indexing = async move {
            loop {
                refresh_index(&state).await;
                tokio::time::sleep(INDEX_INTERVAL).await;
            }
        };
        let delivering = deliver_forever(self.state.clone());
        let subscribing = run_subscriptions_forever(self.state.clone());
        vec![
            Box::pin(reviewing),
            Box::pin(publishing),
            Box::pin(indexing),
            Box::pin(delivering),
            Box::pin(subscribing),
        ]
    }

    fn last_writes(&self) -> LocalBoxFuture<'static, ()> {
        let gate = self.state.gate.clone();
        Box::pin(async move { gate.write_last_uses().await })
    }
}

/// Returns the OpenAPI document as served by the API.
fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| openapi::below_namespace(&shell::document::<Calendar>()))
}
