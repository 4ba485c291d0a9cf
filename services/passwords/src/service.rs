//! Connects the service with the shell.

use std::path::Path;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderMap;
use futures_util::future::LocalBoxFuture;
use shell::{ErrorFormat, Next, PathRules, Routes, ServiceInfo, Shell, TlsMode};
use utoipa::openapi::OpenApi;

use crate::config::Settings;
use crate::error::{ErrorBodies, add_shared_headers};
use crate::jobs::{self, Reloader};
use crate::state::State;
use crate::{app, metrics, openapi, routes};

/// The password range service.
#[derive(Clone)]
pub struct Passwords {
    state: Arc<State>,
    reloader: Arc<Reloader>,
}

impl Passwords {
    /// Loads the active corpora in `data_dir`. A missing corpus isn't an error, because it may be
    /// activated later.
    pub fn open(settings: &Settings, data_dir: &Path) -> Self {
        metrics::show();
        let state = Arc::new(State::new(settings.clone()));
        let reloader = Arc::new(Reloader::new(state.clone(), data_dir));
        reloader.look(true);
        Self { state, reloader }
    }

    /// Returns the state that all workers share.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Loads the corpora activated since the last check, or all of them if `all` is true.
    pub fn reload(&self, all: bool) {
        self.reloader.look(all);
    }
}

impl shell::Service for Passwords {
    const INFO: ServiceInfo = ServiceInfo::new(
        "passwords",
        "Password range service",
        "Looks up how often a password was exposed, by hash prefix.",
        env!("CARGO_PKG_VERSION"),
        8084,
    )
    .tls(TlsMode::Native)
    .files(&["ntlm", "sha1", "tmp"]);

    fn document() -> OpenApi {
        openapi::document()
    }

    fn operations(routes: &mut Routes<'_>) {
        routes::register(routes);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        routes::add_worker(config, self.state.clone());
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(ErrorBodies)
    }

    fn shell(&self) -> Shell {
        Shell {
            compression: false,
            paths: PathRules::EXACT,
            log_note: routes::note,
            ..Shell::default()
        }
    }

    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        routes::answer_first(request, self.state.settings().require_user_agent.is_on())
    }

    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>> {
        Box::pin(async move {
            let mut response = next.call(request).await?;
            add_shared_headers(response.headers_mut());
            Ok(response)
        })
    }

    fn mark(&self, headers: &mut HeaderMap) {
        add_shared_headers(headers);
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let readiness = app::readiness(&self.state);
        Box::pin(async move { readiness })
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        let interval = self.state.settings().reload_interval;
        vec![Box::pin(jobs::watch(self.reloader.clone(), interval))]
    }
}
