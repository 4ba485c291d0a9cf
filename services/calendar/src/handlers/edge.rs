//! The service's own middleware: alias prefix, OPTIONS, method override and CORS.

use actix_web::HttpMessage as _;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpResponse, ResponseError};
use shell::params::{Input, Repeated, Rules};
use shell::{Next, TraceContext, base_url};

use super::input::ByAlias;
use super::reuse::{answer_early, keep_packed};
use super::{pages, reply};
use crate::error::Error;
use crate::model::urls::{ALIAS, ALIAS_NAMESPACE, NAMESPACE, Urls};
use crate::wire::description::{self, Site, below_namespace};

/// Wraps every handler, for both the API and pages.
pub async fn around(
    mut request: ServiceRequest,
    next: Next,
    (alias, per_page): (bool, i64),
) -> Result<ServiceResponse, actix_web::Error> {
    let origin = request.headers().get(header::ORIGIN).cloned();
    if alias {
        rewrite_alias(&mut request);
    }
    let by_person = pages::is_wanted(&request);
    let mut response = match options(&request, per_page) {
        Some(answer) => request.into_response(answer),
        None => {
            override_method(&mut request);
            match request.method() {
                &Method::GET | &Method::HEAD => match answer_early(request.request()).await {
                    Some(answer) => request.into_response(answer),
                    None => keep_packed(next.call(request).await?),
                },
                _ => to_its_end(next.call(request)).await?,
            }
        }
    };
    // Pages render their own errors. For an unknown path, the response is an API error, so replace
    // it with a page.
    let is_html = |response: &ServiceResponse| {
        let kind = response.headers().get(header::CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
    };
    if by_person && response.status() == StatusCode::NOT_FOUND && !is_html(&response) {
        let answer = pages::not_found(response.request());
        response = response.into_response(answer);
    }
    allow_origin(response.headers_mut(), origin);
    Ok(response)
}

/// Runs a write request to completion even if the client disconnects. Otherwise, an import could
/// stop between batches, and an uploaded file could be stored without its row.
async fn to_its_end(
    write: impl Future<Output = Result<ServiceResponse, actix_web::Error>> + 'static,
) -> Result<ServiceResponse, actix_web::Error> {
    let writing = match TraceContext::current() {
        Some(trace) => actix_web::rt::spawn(trace.within(write)),
        None => actix_web::rt::spawn(write),
    };
    match writing.await {
        Ok(written) => written,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::Internal(error.to_string()).into()),
        },
    }
}

/// Returns whether `path` belongs to the API rather than a page.
pub fn is_api_path(path: &str) -> bool {
    below(path, NAMESPACE).or_else(|| below(path, ALIAS)).is_some()
}

/// Returns the part of `path` that follows `prefix`, or `None` if it doesn't start with `prefix`.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix('/')?.strip_prefix(prefix)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Rewrites an API request's path to the registered path. The request might use the alias prefix,
/// or it might request the root with the actual path in the query string.
fn rewrite_alias(request: &mut ServiceRequest) {
    let given = request.uri().query().unwrap_or_default();
    let (rest, query) = match below(request.path(), ALIAS) {
        Some(rest) => (rest.to_owned(), given.to_owned()),
        None => match by_query(request.path(), given) {
            Some(rewritten) => rewritten,
            None => return,
        },
    };
    let query = if query.is_empty() { query } else { format!("?{query}") };
    let Ok(target) = PathAndQuery::try_from(format!("/{NAMESPACE}{rest}{query}")) else { return };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
        request.extensions_mut().insert(ByAlias);
    }
}

/// Splits the query string of a request for the root path, such as
/// `rest_route=/tribe/events/v1/events&page=2`, into the API path and the remaining parameters.
/// Returns `None` for any other path or query.
fn by_query(path: &str, query: &str) -> Option<(String, String)> {
    const NAME: &str = "rest_route=";
    if !matches!(path, "/" | "/index.php") {
        return None;
    }
    let (routes, others): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|pair| pair.starts_with(NAME));
    let (_, route) = url::form_urlencoded::parse(routes.last()?.as_bytes()).next()?;
    let rest = below(&route, ALIAS_NAMESPACE)?.trim_end_matches('/').to_owned();
    Some((rest, others.join("&")))
}

/// Responds to an OPTIONS request to the API with a description of the route. Returns `None` for
/// all other requests.
fn options(request: &ServiceRequest, per_page: i64) -> Option<HttpResponse> {
    if request.method() != Method::OPTIONS {
        return None;
    }
    let path = below_namespace(request.path())?;
    let operations = shell::operations(request.request()).iter();
    let Some(route) = description::route_of(operations, path) else {
        return Some(Error::NoRoute.error_response());
    };
    let alias = request.extensions().get::<ByAlias>().is_some();
    let urls = Urls { base: base_url(request.request()), alias, ..Urls::default() };
    let answer = HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, reply::JSON))
        .insert_header((header::ALLOW, route.methods().join(", ")))
        .json(description::route(&route, Site { urls: &urls, per_page }));
    Some(answer)
}

/// If a parameter is repeated, the last one wins.
const LAST: Rules = Rules { repeated: Repeated::Last, ..Rules::PLAIN };

/// Replaces POST with the method given in the override header or the query string.
fn override_method(request: &mut ServiceRequest) {
    if request.method() != Method::POST || below_namespace(request.path()).is_none() {
        return;
    }
    let header = request.headers().get("x-http-method-override");
    let named = header.and_then(|value| value.to_str().ok()).map(str::to_owned).or_else(|| {
        let query = Input::query(request.query_string());
        let readable = query.undecodable().is_none();
        query.text("_method", &LAST).filter(|_| readable).map(str::to_owned)
    });
    let method = match named.unwrap_or_default().to_ascii_uppercase().as_str() {
        "PUT" => Method::PUT,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        _ => return,
    };
    request.head_mut().method = method;
}

/// Allows pages from any origin to read the response.
fn allow_origin(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    const TEXTS: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "OPTIONS, GET, POST, PUT, PATCH, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, If-Match, X-API-Key, X-HTTP-Method-Override",
        ),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "X-TEC-Total, X-TEC-TotalPages, X-WP-Total, X-WP-TotalPages, Link, ETag",
        ),
    ];
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = origin else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    for (name, text) in TEXTS {
        headers.insert(name, HeaderValue::from_static(text));
    }
}
