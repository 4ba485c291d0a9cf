//! The calendar as a service of the shell.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::http::{Method, header::HeaderMap};
use actix_web::web::Data;
use actix_web::{HttpMessage, ResponseError};
use futures_util::future::LocalBoxFuture;
use shell::{ErrorBody, ErrorFormat, Next, Pairs, Service, ServiceInfo, Shell, TlsMode, base_url};
use url::form_urlencoded;
use utoipa::openapi::security::{ApiKey, ApiKeyValue};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::error::{Error, Format};
use crate::jobs::publish;
use crate::reply;
use crate::request::ByAlias;
use crate::routes;
use crate::state::State;
use crate::wire::addresses::{ALIAS, Addresses, NAMESPACE};
use crate::wire::describe::Site;
use crate::wire::{args, describe};

/// How often due publications are looked for.
const TICK: Duration = Duration::from_secs(60);

/// The service.
#[derive(Clone)]
pub struct Calendar {
    pub state: State,
}

impl Service for Calendar {
    const INFO: ServiceInfo = ServiceInfo {
        name: "calendar",
        title: "Events calendar",
        about: "Events calendar: events, venues, organizers, categories and tags over HTTP",
        version: env!("CARGO_PKG_VERSION"),
        http_port: 8085,
        https_port: 8485,
        admin_port: 9085,
        tls_mode: TlsMode::Off,
    };

    fn document() -> OpenApi {
        let key = ApiKey::Header(ApiKeyValue::new("X-API-Key"));
        let components = ComponentsBuilder::new()
            .security_scheme("key", SecurityScheme::ApiKey(key))
            .security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
            .security_scheme("basic", SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)))
            .schema_from::<crate::wire::image::ImageSize>()
            .schema_from::<crate::wire::problem::ErrorJson>()
            .schema_from::<crate::wire::problem::ErrorData>()
            .build();
        let info = InfoBuilder::new()
            .title(Self::INFO.title)
            .version("1.0.0")
            .description(Some(Self::INFO.about))
            .build();
        OpenApiBuilder::new().info(info).components(Some(components)).build()
    }

    fn error_body() -> Option<ErrorBody> {
        Some(ErrorBody { schema: "Error", media_type: "application/json" })
    }

    fn routes(config: &mut ServiceConfig<'_>) {
        routes::routes(config);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(Data::new(self.state.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(Format)
    }

    fn shell(&self) -> Shell {
        Shell { log_path: without_password, ..Shell::default() }
    }

    fn around(
        &self,
        mut request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>> {
        let settings = &self.state.site.settings;
        let (alias, per_page) = (settings.alias_prefix.is_on(), settings.per_page);
        Box::pin(async move {
            let origin = request.headers().get(header::ORIGIN).cloned();
            if alias {
                enter_by_alias(&mut request);
            }
            let mut response = match options(&request, per_page) {
                Some(answer) => request.into_response(answer),
                None => {
                    override_method(&mut request);
                    next.call(request).await?
                }
            };
            allow_origin(response.headers_mut(), origin);
            Ok(response)
        })
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let pools = self.state.pools.clone();
        Box::pin(async move { pools.ping().await.map_err(|error| error.to_string()) })
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        let state = self.state.clone();
        let publishing = async move {
            loop {
                publish::due(&state).await;
                tokio::time::sleep(TICK).await;
            }
        };
        vec![Box::pin(publishing)]
    }
}

/// Hides passwords of events in a request target, however their name is encoded.
fn without_password(uri: &Uri) -> Cow<'_, str> {
    let target = Shell::path_and_query(uri);
    let Some((path, query)) = target.split_once('?') else { return target };
    let parts = query.split('&').map(|part| {
        let name = form_urlencoded::parse(part.as_bytes()).next().map(|(name, _)| name);
        let is_password = name.is_some_and(|name| name.split('[').next() == Some("password"));
        if is_password { "password=***" } else { part }
    });
    Cow::Owned(format!("{path}?{}", parts.collect::<Vec<_>>().join("&")))
}

/// Returns what of a path lies below the interface.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix('/')?.strip_prefix(prefix)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Leads the paths of existing clients to the same handlers.
fn enter_by_alias(request: &mut ServiceRequest) {
    let Some(rest) = below(request.path(), ALIAS) else { return };
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    let Ok(target) = PathAndQuery::try_from(format!("/{NAMESPACE}{rest}{query}")) else { return };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
        request.extensions_mut().insert(ByAlias);
    }
}

/// Answers OPTIONS below the interface with the description of the route.
fn options(request: &ServiceRequest, per_page: i64) -> Option<HttpResponse> {
    if request.method() != Method::OPTIONS {
        return None;
    }
    let path = below(request.path(), NAMESPACE)?;
    let Some(route) = args::route_of(path) else { return Some(Error::NoRoute.error_response()) };
    let alias = request.extensions().get::<ByAlias>().is_some();
    let addresses = Addresses { base: base_url(request.request()), alias };
    let methods: Vec<&str> =
        route.endpoints.iter().flat_map(|endpoint| endpoint.methods).copied().collect();
    let answer = HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, reply::JSON))
        .insert_header((header::ALLOW, methods.join(", ")))
        .json(describe::route(route, Site { addresses: &addresses, per_page }));
    Some(answer)
}

/// Lets POST stand for the methods that some clients cannot send.
fn override_method(request: &mut ServiceRequest) {
    if request.method() != Method::POST || below(request.path(), NAMESPACE).is_none() {
        return;
    }
    let header = request.headers().get("x-http-method-override");
    let named = header.and_then(|value| value.to_str().ok()).map(str::to_owned).or_else(|| {
        let pairs = Pairs::parse(request.query_string()).ok()?;
        pairs.last("_method").map(str::to_owned)
    });
    let method = match named.unwrap_or_default().to_ascii_uppercase().as_str() {
        "PUT" => Method::PUT,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        _ => return,
    };
    request.head_mut().method = method;
}

/// Lets pages of any origin read the answer.
fn allow_origin(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    const TEXTS: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "OPTIONS, GET, POST, PUT, PATCH, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, X-API-Key, X-HTTP-Method-Override",
        ),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "X-TEC-Total, X-TEC-TotalPages, X-WP-Total, X-WP-TotalPages, Link",
        ),
    ];
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = origin else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    for (name, text) in TEXTS {
        headers.insert(name, HeaderValue::from_static(text));
    }
}
