//! How the service plugs into the shell.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::Error as ActixError;
use actix_web::ResponseError;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::web::Data;
use auth::{Gate, KeyStore, Quotas};
use futures_util::future::LocalBoxFuture;
use shell::{ErrorFormat, Next, ServiceInfo, Shell};

use crate::error::{Error, ErrorBodies, LONGEST_TARGET};
use crate::policy::KeyPolicy;
use crate::state::State;
use crate::{app, openapi, routes};

/// The service with its state.
#[derive(Clone)]
pub struct Buckets {
    state: State,
    gate: Gate,
}

impl Buckets {
    /// A service on some state.
    pub fn new(state: State) -> Self {
        let keys = KeyStore::new(state.pools().clone(), state.clock().clone());
        let quotas = Quotas::new(state.clock().clone());
        Self { gate: Gate::new(keys, quotas, KeyPolicy), state }
    }
}

impl shell::Service for Buckets {
    const INFO: ServiceInfo = ServiceInfo::new(
        "buckets",
        "Bucket index search",
        "Searches an index of files in open cloud-storage buckets",
        env!("CARGO_PKG_VERSION"),
        8082,
    );

    fn document() -> utoipa::openapi::OpenApi {
        openapi::document()
    }

    fn routes(config: &mut utoipa_actix_web::service_config::ServiceConfig<'_>) {
        routes::register(config);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(Data::new(self.state.clone()));
        config.app_data(Data::new(self.gate.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(ErrorBodies)
    }

    fn shell(&self) -> Shell {
        Shell {
            log_path: without_key,
            path: Shell::keep_path,
            stop_when_client_leaves: true,
            ..Shell::default()
        }
    }

    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, ActixError>> {
        Box::pin(async move {
            let api = request.path().starts_with("/api/");
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
        let pools = self.state.pools().clone();
        Box::pin(async move { pools.ping().await.map_err(|error| error.to_string()) })
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        vec![Box::pin(app::follow(self.state.clone()))]
    }
}

/// Bytes of a request target that the log shows.
const LONGEST_LOGGED: usize = 2_048;

/// The request target with the key blotted out, and cut where it is very long.
fn without_key(uri: &Uri) -> Cow<'_, str> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    if target.len() > LONGEST_LOGGED {
        return Cow::Owned(format!("{}?...", uri.path().get(..256).unwrap_or(uri.path())));
    }
    let Some((path, query)) = target.split_once('?') else {
        return Cow::Borrowed(target);
    };
    let parts = query.split('&').map(|part| {
        let name = part.split('=').next().unwrap_or_default();
        let decoded = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
        if decoded == "access_token" { "access_token=***" } else { part }
    });
    Cow::Owned(format!("{path}?{}", parts.collect::<Vec<_>>().join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_never_shows_a_key() {
        let uri: Uri =
            "/api/v2/files?a=1&access_token=secret&b&acces%73_token=other".parse().unwrap();
        assert_eq!(without_key(&uri), "/api/v2/files?a=1&access_token=***&b&access_token=***");
        assert_eq!(without_key(&"/x".parse().unwrap()), "/x");
        let long: Uri = format!("/x?access_token=secret&{}", "a".repeat(3_000)).parse().unwrap();
        assert_eq!(without_key(&long), "/x?...");
    }
}
