//! Connects the service to the shell, and sets up CORS and the caching and attribution headers.

use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest, ResponseError};
use database::Backend;
use futures_util::future::LocalBoxFuture;
use shell::{CorsRule, ErrorFormat, Next, Routes, ServiceInfo, Shell, TlsMode};

use crate::error::{Error, ErrorBodies};
use crate::jobs;
use crate::metrics;
use crate::openapi;
use crate::policy::{self, Access, Agent};
use crate::routes;
use crate::state::State;

static KEYLESS: CorsRule = CorsRule {
    methods: "GET, HEAD, OPTIONS",
    request_headers: "*",
    expose: "",
    max_age: Some(86_400),
    preflight: 204,
};

/// How often domain names are renewed on PostgreSQL.
const RENEW_NAMES_EVERY: Duration = Duration::from_secs(60);

/// Pages depend on the cookie.
static COOKIES: [HeaderName; 1] = [header::COOKIE];

/// The service and its state.
#[derive(Clone)]
pub struct Breaches {
    state: State,
    /// The headers that can carry an API key.
    key_headers: Arc<[HeaderName]>,
}

impl Breaches {
    pub fn new(state: State) -> Self {
        let names = state.settings().api_key_headers.iter();
        let key_headers = names.filter_map(|name| HeaderName::try_from(name).ok()).collect();
        Self { state, key_headers }
    }

    /// Performs checks 2 to 4 and rejects preflights for keyed operations.
    ///
    /// Unknown paths are rejected before they reach the router, which would decode and serve some
    /// of them.
    fn check(&self, request: &ServiceRequest, access: Access) -> Result<(), Error> {
        let (method, headers) = (request.method(), request.headers());
        let (snapshot, now) = (self.state.snapshot(), self.state.clock().unix());
        let client = shell::client_ip(request.request());
        let agent = match routes::is_one_click(method, request.path()) {
            true => Agent::Optional,
            false => Agent::Required,
        };
        policy::check_client(&snapshot.blocks, now, client, (method, headers), agent)?;
        match access {
            Access::Keyed(_) if policy::is_preflight(method, headers) => Err(Error::CrossOrigin),
            Access::Unknown => Err(Error::NotFound),
            _ => Ok(()),
        }
    }
}

impl shell::Service for Breaches {
    const INFO: ServiceInfo = ServiceInfo::new(
        "breaches",
        "Breach lookup service",
        "Finds the data breaches that contain an email address or a domain",
        env!("CARGO_PKG_VERSION"),
        8083,
    )
    .tls(TlsMode::Native)
    .files(&["mail"]);

    fn document() -> utoipa::openapi::OpenApi {
        openapi::document()
    }

    /// Must be empty, since every status we return is in the error table.
    fn shared_statuses() -> &'static [StatusCode] {
        &[]
    }

    fn amend(document: &mut utoipa::openapi::OpenApi) {
        openapi::complete(document);
    }

    fn operations(routes: &mut Routes<'_>) {
        routes::register(routes);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(Data::new(self.state.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(ErrorBodies)
    }

    fn credentials(&self, path: &str) -> &[HeaderName] {
        match routes::access(path) {
            Access::Keyed(_) => &self.key_headers,
            Access::Page if !path.starts_with("/assets/") => &COOKIES,
            _ => &[],
        }
    }

    fn shell(&self) -> Shell {
        Shell { cors, paths: routes::PATHS, ..Shell::default() }
    }

    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>> {
        let access = routes::access(request.path());
        if let Err(error) = self.check(&request, access) {
            let mut response = routes::explain(request.into_response(error.error_response()));
            if access == Access::Keyless {
                let any = HeaderValue::from_static("*");
                response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
            }
            let (request, mut response) = response.into_parts();
            decorate(&request, access, response.status().is_success(), response.headers_mut());
            return Box::pin(async { Ok(ServiceResponse::new(request, response)) });
        }
        // The CORS middleware and keyed handlers read this.
        request.extensions_mut().insert(access);
        Box::pin(async move {
            let (request, mut response) = routes::explain(next.call(request).await?).into_parts();
            let data = response.status().is_success();
            decorate(&request, access, data, response.headers_mut());
            Ok(ServiceResponse::new(request, response))
        })
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let pools = self.state.pools().clone();
        Box::pin(async move { pools.ready().await.map_err(|error| error.to_string()) })
    }

    fn missing(&self) -> Option<String> {
        self.state.missing()
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        metrics::show();
        let state = || self.state.clone();
        let mut work: Vec<LocalBoxFuture<'static, ()>> =
            vec![Box::pin(keep_fresh(state())), Box::pin(jobs::measure_regularly(state()))];
        if self.state.pools().backend() == Backend::Postgres {
            work.push(Box::pin(keep_names(state())));
        }
        if self.state.layout().is_distributed() {
            work.push(Box::pin(jobs::watch_cluster(state())));
        }
        if self.state.settings().maintenance.is_on() {
            work.push(Box::pin(jobs::maintain(state())));
            work.push(Box::pin(jobs::write_monthly_mails(state())));
            work.push(Box::pin(jobs::deliver_mails(state())));
            work.push(Box::pin(jobs::deliver_webhooks(state())));
        }
        work
    }

    fn last_writes(&self) -> LocalBoxFuture<'static, ()> {
        let gate = self.state.gate().clone();
        Box::pin(async move { gate.write_last_uses().await })
    }
}

/// Keeps the snapshot up to date. Repeated failures to reload are logged only once.
async fn keep_fresh(state: State) {
    let pause = Duration::from_millis(state.settings().catalogue_poll_ms.max(1));
    let mut failing = false;
    loop {
        let snapshot = state.snapshot();
        let catalogue = &snapshot.answers.catalogue;
        metrics::describe_catalogue(catalogue.version, catalogue.states());
        tokio::time::sleep(pause).await;
        match state.reload().await {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                failing = true;
                log::error!("the catalogue cannot be reloaded: {error}");
            }
            Err(_) => {}
        }
    }
}

/// Renews the cache of domain names, without which look-ups read the names one by one.
async fn keep_names(state: State) {
    loop {
        if let Err(error) = state.renew_names().await {
            log::debug!("the names of domains cannot be read: {error}");
        }
        tokio::time::sleep(RENEW_NAMES_EVERY).await;
    }
}

fn cors(request: &ServiceRequest) -> Option<&'static CorsRule> {
    let access = request.extensions().get::<Access>().copied();
    (access == Some(Access::Keyless)).then_some(&KEYLESS)
}

/// Adds headers that depend only on the path and scheme.
fn decorate(request: &HttpRequest, access: Access, data: bool, headers: &mut HeaderMap) {
    if matches!(access, Access::Keyed(_)) {
        let private = HeaderValue::from_static("private, no-store");
        headers.insert(header::CACHE_CONTROL, private);
    }
    if data && matches!(access, Access::Keyless | Access::Keyed(_)) {
        let link = format!("<{}>; rel=\"license\"", shell::base_url(request));
        if let Ok(link) = HeaderValue::try_from(link) {
            headers.insert(HeaderName::from_static("link"), link);
        }
    }
}
