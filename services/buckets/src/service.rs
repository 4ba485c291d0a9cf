//! Implements [`shell::Service`].

use std::sync::Arc;
use std::time::Duration;

use actix_web::Error as ActixError;
use actix_web::ResponseError;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL, HeaderName, HeaderValue};
use actix_web::web::Data;
use auth::{Gate, KeyStore, Quotas};
use futures_util::future::LocalBoxFuture;
use shell::{ErrorFormat, Next, PathRules, Routes, ServiceInfo, Shell};

use crate::app::AlertDelivery;
use crate::error::{Error, ErrorBodies, LONGEST_TARGET};
use crate::policy::KeyPolicy;
use crate::state::State;
use crate::{app, jobs, openapi, routes};

/// Prefix of API paths. Their responses depend on the caller.
const API: &str = "/api/";
/// Headers that can contain a key.
static CREDENTIALS: [HeaderName; 1] = [AUTHORIZATION];

/// The service and its state.
#[derive(Clone)]
pub struct Buckets {
    state: State,
    gate: Gate,
    /// Base URL for links in webhooks.
    base: Arc<str>,
}

impl Buckets {
    /// Creates the service. `base` is the URL at which clients can reach it, without a trailing
    /// slash.
    pub fn new(state: State, base: &str) -> Self {
        let keys = KeyStore::new(state.pools().clone(), state.clock().clone());
        let quotas = Quotas::new(state.clock().clone());
        Self { gate: Gate::new(keys, quotas, KeyPolicy), state, base: base.into() }
    }
}

/// Sends alert messages until the server stops.
async fn deliver_alerts(state: State, base: Arc<str>) {
    match AlertDelivery::new(&state, &base) {
        Ok(delivery) => {
            let pause = Duration::from_millis(state.settings().reload_ms.saturating_mul(2));
            outbound::deliver_forever(&delivery, &delivery, pause).await;
        }
        Err(error) => log::error!("alert webhooks are not sent: {error}"),
    }
}

impl shell::Service for Buckets {
    const INFO: ServiceInfo = ServiceInfo::new(
        "buckets",
        "Bucket index search",
        "Searches an index of files in open cloud-storage buckets",
        env!("CARGO_PKG_VERSION"),
        8082,
    )
    .files(&["index"]);

    fn document() -> utoipa::openapi::OpenApi {
        openapi::document()
    }

    fn error_body() -> Option<shell::ErrorBody> {
        Some(shell::ErrorBody { schema: "ErrorBody", media_type: "application/json" })
    }

    fn operations(routes: &mut Routes<'_>) {
        routes::register(routes);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(Data::new(self.state.clone()));
        config.app_data(Data::new(self.gate.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(ErrorBodies)
    }

    fn credentials(&self, path: &str) -> &[HeaderName] {
        match path.starts_with(API) {
            true => &CREDENTIALS,
            false => &[],
        }
    }

    fn shell(&self) -> Shell {
        Shell { paths: PathRules::EXACT, stop_when_client_leaves: true, ..Shell::default() }
    }

    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, ActixError>> {
        Box::pin(async move {
            let api = request.path().starts_with(API);
            let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
            let mut response = if target > LONGEST_TARGET {
                request.into_response(Error::TargetTooLong.error_response())
            } else {
                next.call(request).await?
            };
            if api {
                let private = HeaderValue::from_static("private, no-store");
                response.headers_mut().insert(CACHE_CONTROL, private);
            }
            Ok(response)
        })
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let state = self.state.clone();
        Box::pin(async move {
            state.pools().ready().await.map_err(|error| error.to_string())?;
            state.fault().map_or(Ok(()), Err)
        })
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        let state = &self.state;
        vec![
            Box::pin(app::follow(state.clone())),
            Box::pin(jobs::erase_removed(state.clone())),
            Box::pin(jobs::judge_missed(state.clone())),
            Box::pin(deliver_alerts(state.clone(), Arc::clone(&self.base))),
        ]
    }

    fn last_writes(&self) -> LocalBoxFuture<'static, ()> {
        let gate = self.gate.clone();
        Box::pin(async move { gate.write_last_uses().await })
    }
}
