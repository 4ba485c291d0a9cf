//! How the service plugs into the shell.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use actix_web::ResponseError;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::web::Data;
use actix_web::{Error as ActixError, HttpRequest};
use auth::{AuthError, Charge, Credential, Gate, Key, KeyStore, Policy, Quota, Quotas};
use futures_util::future::LocalBoxFuture;
use shell::{ErrorFormat, Next, Pairs, ServiceInfo, Shell, TlsMode};

use crate::error::{Bodies, Error, LONGEST_TARGET};
use crate::routes;
use crate::state::State;

/// The constants of the service.
pub const INFO: ServiceInfo = ServiceInfo {
    name: "buckets",
    title: "Bucket index search",
    about: "Searches an index of files in open cloud-storage buckets",
    version: env!("CARGO_PKG_VERSION"),
    http_port: 8082,
    https_port: 8482,
    admin_port: 9082,
    tls_mode: TlsMode::Off,
};

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
        Self { gate: Gate::new(keys, quotas, Keys), state }
    }
}

/// Where keys stand and what they cost.
struct Keys;

impl Policy for Keys {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        if let Some(key) = auth::bearer_key(request)? {
            return Ok(Some(key));
        }
        let named = |part: &str| {
            let pairs = Pairs::parse(part).ok()?;
            pairs.last("access_token").filter(|key| !key.is_empty()).map(Credential::from)
        };
        // Another parameter that cannot be read is no reason to overlook the key.
        Ok(request.query_string().split('&').rev().find_map(named))
    }

    fn refused(&self, _: &HttpRequest) -> Charge {
        Quota::per_minute(60).into()
    }

    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let charge = Charge::from(key.quota().unwrap_or(Quota::per_minute(60)));
        charge.cost(u32::from(request.path() != routes::ACCOUNT))
    }
}

impl shell::Service for Buckets {
    const INFO: ServiceInfo = INFO;

    fn document() -> utoipa::openapi::OpenApi {
        routes::document()
    }

    fn routes(config: &mut utoipa_actix_web::service_config::ServiceConfig<'_>) {
        routes::register(config);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(Data::new(self.state.clone()));
        config.app_data(Data::new(self.gate.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(Bodies)
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
        vec![Box::pin(follow(self.state.clone()))]
    }
}

/// Follows the index for as long as the server runs; says once when it cannot.
async fn follow(state: State) {
    let pause = Duration::from_millis(state.settings().reload_ms);
    let mut failing = false;
    loop {
        tokio::time::sleep(pause).await;
        let renewed = state.clone();
        let refreshed = tokio::task::spawn_blocking(move || renewed.refresh()).await;
        match refreshed {
            Ok(Ok(())) => failing = false,
            Ok(Err(error)) if !failing => {
                failing = true;
                log::error!("the index cannot be followed: {error}");
            }
            Ok(Err(_)) => {}
            Err(error) => log::error!("the index cannot be followed: {error}"),
        }
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
