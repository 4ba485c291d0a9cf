//! Connects the service to the shell.

use std::sync::Arc;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderName;
use actix_web::web::{Data, ServiceConfig};
use actix_web::{Error, HttpMessage};
use auth::{Gate, KeyStore, Quotas, Remaining};
use database::{DatabaseError, Pools};
use domain::SharedClock;
use futures_util::future::LocalBoxFuture;
use shell::{
    CorsRule, ErrorBody, ErrorFormat, Next, PathRules, RateLimit, Routes, Service, ServiceInfo,
    Shell,
};
use utoipa::openapi::OpenApi;

use crate::config::Settings;
use crate::error::ErrorBodies;
use crate::policy::{self, CREDENTIALS, KeyPolicy};
use crate::state::State;
use crate::{metrics, openapi, routes};

#[derive(Clone)]
pub struct Generator {
    state: State,
    gate: Gate,
}

/// Path prefix of the API.
const API: &str = "/api/";

/// The limit that [`Remaining`] reports if requests aren't limited.
const UNLIMITED: u32 = u32::MAX;

const CORS: CorsRule = CorsRule {
    methods: "GET, POST, PUT, DELETE",
    request_headers: "X-Api-Key, Content-Type",
    expose: "X-Seed, X-Ref-Date, X-Data-Version, Retry-After, RateLimit-Limit, \
             RateLimit-Remaining, RateLimit-Reset",
    max_age: Some(86_400),
    preflight: 204,
};

/// Paths are matched without regard to letter case or trailing slashes.
const PATHS: PathRules = PathRules { ignore_case: true, ..PathRules::NO_TRAILING_SLASH };

impl Generator {
    /// Creates the service, and inserts the initial plans if the database is new.
    ///
    /// # Errors
    /// Returns an error if writing to the database fails.
    pub fn new(
        pools: Pools,
        clock: SharedClock,
        settings: &Settings,
    ) -> Result<Self, DatabaseError> {
        metrics::show();
        policy::seed_plans(&pools)?;
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let quotas = Quotas::new(clock.clone());
        let gate = Gate::new(keys, quotas, KeyPolicy(settings.clone()));
        Ok(Self { state: State::new(pools, clock, settings), gate })
    }
}

impl Service for Generator {
    const INFO: ServiceInfo = ServiceInfo::new(
        "generator",
        "Test-data generator",
        "Generates and checks synthetic test data such as cards, numbers and names",
        env!("CARGO_PKG_VERSION"),
        8081,
    );

    fn document() -> OpenApi {
        openapi::document()
    }

    fn error_body() -> Option<ErrorBody> {
        Some(ErrorBody { schema: "Problem", media_type: "application/problem+json" })
    }

    fn amend(document: &mut OpenApi) {
        openapi::amend(document);
    }

    fn operations(routes: &mut Routes<'_>) {
        routes::register(routes);
    }

    fn state(&self, config: &mut ServiceConfig) {
        config.app_data(Data::new(self.gate.clone())).app_data(Data::new(self.state.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(ErrorBodies)
    }

    fn credentials(&self, path: &str) -> &[HeaderName] {
        // Pages are the same for everyone, so they don't take keys.
        let is_api = path.get(..API.len()).is_some_and(|start| start.eq_ignore_ascii_case(API));
        if is_api { &CREDENTIALS } else { &[] }
    }

    fn shell(&self) -> Shell {
        Shell { cors: |_| Some(&CORS), paths: PATHS, ..Shell::default() }
    }

    /// Adds the rate limit headers to rate-limited responses.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move {
            let mut response = next.call(request).await?;
            let remaining = response.request().extensions().get::<Remaining>().copied();
            if let Some(left) = remaining.filter(|left| left.limit != UNLIMITED) {
                let Remaining { limit, remaining, reset } = left;
                RateLimit { limit, remaining, reset }.mark(response.headers_mut());
            }
            Ok(response)
        })
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let pools = self.state.pools().clone();
        Box::pin(async move { pools.ready().await.map_err(|error| error.to_string()) })
    }

    fn last_writes(&self) -> LocalBoxFuture<'static, ()> {
        let gate = self.gate.clone();
        Box::pin(async move { gate.write_last_uses().await })
    }
}
