//! Wraps a service in the shell's layers in the right order.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_http::ConnectionType;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::http::{Method, StatusCode, Version};
use actix_web::middleware::from_fn;
use actix_web::{App, Error, HttpMessage, HttpRequest, HttpResponse, web};
use futures_util::FutureExt;
use futures_util::future::ready;

use crate::access_log::{Client, Line};
use crate::caching::CallerDependence;
use crate::docs::Docs;
use crate::edge::Edge;
use crate::health::{self, Background, Draining};
use crate::{
    CorsRule, ErrorFormat, Fault, KeyNumber, LogClient, Next, Operation, Operations, RequestId,
    RequestInfo, Service, Shell, TraceContext, compression, metrics, operations, request_id,
    routes, spans,
};

/// State shared by all workers.
#[derive(Clone)]
pub(crate) struct Context<S> {
    pub(crate) service: S,
    pub(crate) shell: Shell,
    pub(crate) errors: Arc<dyn ErrorFormat>,
    pub(crate) edge: Edge,
    pub(crate) draining: Draining,
    pub(crate) background: Background,
    pub(crate) operations: Arc<Operations>,
    pub(crate) docs: Option<Arc<Docs>>,
    /// How much of each client address to include in the access log. `None` if there is no access
    /// log.
    pub(crate) access_log: Option<LogClient>,
}

/// Properties of a request, recorded before any layer changes the request.
struct Seen {
    method: Method,
    uri: Uri,
    /// The ID sent by the client.
    id: Option<RequestId>,
    trace: Option<TraceContext>,
    /// The client, if an access log is written.
    client: Option<Client>,
    started: Instant,
}

/// Marks requests that were sent as `HEAD`.
struct HeadRequest;

/// Returns whether a request was sent as `HEAD`. Handlers see such requests as `GET`, but can skip
/// building the body.
///
/// ```
/// use actix_web::test::TestRequest;
///
/// assert!(!shell::is_head(&TestRequest::default().to_http_request()));
/// ```
pub fn is_head(request: &HttpRequest) -> bool {
    request.extensions().contains::<HeadRequest>()
}

/// Builds a worker's application. The layer that is added last sees requests first.
pub(crate) fn build<S: Service>(
    context: &Context<S>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    > + use<S>,
> {
    let outer = Rc::new(context.clone());
    let (inner, service) = (outer.clone(), context.service.clone());
    App::new()
        .configure(|config| routes::serve(config, S::operations))
        .app_data(context.errors.clone())
        .app_data(context.edge.clone())
        .app_data(context.operations.clone())
        .app_data(context.shell.rules)
        .configure(|config| context.service.state(config))
        .configure(|config| {
            if let Some(docs) = &context.docs {
                docs.serve(config);
            }
        })
        .default_service(web::to(unrouted))
        .wrap(from_fn(move |request, next| shape(inner.clone(), request, next)))
        .wrap(from_fn(move |request, next| service.around(request, next)))
        .wrap(from_fn(move |request, next| oversee(outer.clone(), request, next)))
}

/// The outermost layer, which takes care of health checks, the redirect to HTTPS, panics, metrics
/// and the access log.
///
/// Request IDs are created lazily, when an error, the log or a handler first needs one.
async fn oversee<S: Service>(
    context: Rc<Context<S>>,
    request: ServiceRequest,
    next: Next,
) -> Result<ServiceResponse, Error> {
    if is_for_server(&request) {
        // Boxed, because every request's future would otherwise be larger.
        return Ok(Box::pin(answer_for_server(context, request)).await);
    }
    let started = Instant::now();
    let client = context.access_log.map(|shown| {
        let address = crate::client_ip(request.request());
        Client::of(request.headers(), address, shown)
    });
    let seen = Seen {
        method: request.method().clone(),
        uri: request.uri().clone(),
        id: RequestId::sent(request.headers()),
        trace: spans::trace_of(request.headers()),
        client,
        started,
    };
    let names = match *request.method() {
        Method::OPTIONS => &[], // Caches do not store the response.
        _ => context.service.credentials(request.path()),
    };
    let dependence = CallerDependence::of(names, request.headers());
    let mut response = match context.edge.redirect(&request) {
        Some(target) => {
            let moved = target.as_deref().and_then(moved);
            // Without a usable host, there is nothing to redirect to.
            let unusable = || Fault::Unreadable(StatusCode::BAD_REQUEST);
            let mut answer = moved.unwrap_or_else(|| unusable().response(request.request()));
            context.service.mark(answer.headers_mut());
            request.into_response(answer)
        }
        None => {
            // A panic drops the request. We can't keep a clone, because the inner layers need
            // exclusive access to modify the request. The response to a panic is therefore built
            // without it. `Service::first` runs before the future exists, so we have to catch its
            // panics here.
            let begun = catch_unwind(AssertUnwindSafe(|| answer(&context.service, request, &next)));
            let Ok(answer) = begun else { return Err(panicked(&context, seen)) };
            let answer = match seen.trace {
                // Boxed, because every request's future would otherwise be larger.
                Some(trace) => Box::pin(trace.within(answer)).left_future(),
                None => answer.right_future(),
            };
            let Ok(result) = AssertUnwindSafe(answer).catch_unwind().await else {
                return Err(panicked(&context, seen));
            };
            result?
        }
    };
    dependence.mark(response.headers_mut());
    Ok(finish(&context, response, seen))
}

/// Returns whether a request is a health check or `OPTIONS *`. These address the server itself, so
/// the rules for paths and HTTPS don't apply.
fn is_for_server(request: &ServiceRequest) -> bool {
    health::is_health(request.path())
        || request.method() == Method::OPTIONS && request.path() == "*"
}

async fn answer_for_server<S: Service>(
    context: Rc<Context<S>>,
    request: ServiceRequest,
) -> ServiceResponse {
    let id = request_id(request.request());
    let answer = if health::is_health(request.path()) {
        match *request.method() {
            Method::GET | Method::HEAD => {
                let Context { service, draining, background, .. } = &*context;
                health::answer(request.path(), service, draining, background).await
            }
            _ => {
                let allow = vec![Method::GET, Method::HEAD];
                Fault::MethodNotAllowed { allow }.response(request.request())
            }
        }
    } else {
        let allow = context.operations.methods();
        let allow: Vec<_> = allow.iter().map(Method::as_str).chain(["OPTIONS"]).collect();
        HttpResponse::NoContent().insert_header((header::ALLOW, allow.join(", "))).finish()
    };
    let mut response = request.into_response(answer);
    id.mark(response.headers_mut());
    context.service.mark(response.headers_mut());
    response
}

/// Returns the early response from [`Service::first`] if there is one, and the inner layers'
/// response otherwise.
fn answer<S: Service>(
    service: &S,
    request: ServiceRequest,
    next: &Next,
) -> impl Future<Output = Result<ServiceResponse, Error>> + use<S> {
    match service.first(&request) {
        Some(response) => ready(Ok(request.into_response(response))).left_future(),
        None => next.call(request).right_future(),
    }
}

fn moved(target: &str) -> Option<HttpResponse> {
    let location = HeaderValue::from_str(target).ok()?;
    let mut moved = HttpResponse::MovedPermanently();
    Some(moved.insert_header((header::LOCATION, location)).finish())
}

fn panicked<S: Service>(context: &Context<S>, seen: Seen) -> Error {
    let Seen { method, uri, id, trace, client, started } = seen;
    let id = id.unwrap_or_else(RequestId::next);
    log::error!(request_id = id.to_string().as_str(); "a handler panicked");
    let operation = context.operations.find(uri.path()).map(Operation::template);
    let (label, status) = (metrics::method_label(&method), StatusCode::INTERNAL_SERVER_ERROR);
    metrics::count_panic(label, operation, started.elapsed());
    let info = RequestInfo { method: method.clone(), uri, id: id.clone() };
    let mut response = context.errors.respond(&Fault::Internal("panic".to_owned()), &info);
    id.mark(response.headers_mut());
    if let Some(client) = client {
        let path = context.operations.redact(info.uri.path()).into_owned().into();
        let (method, key, note) = (label, None, "");
        let suppressed = 0;
        let line = Line { id, trace, method, path, status, client, key, note, started, suppressed };
        response = response.map_body(|_, body| line.write_with(body));
    }
    actix_web::error::InternalError::from_response("panic", response).into()
}

fn finish<S: Service>(
    context: &Context<S>,
    mut response: ServiceResponse,
    seen: Seen,
) -> ServiceResponse {
    let Seen { method, id, trace, client, started, .. } = seen;
    let elapsed = started.elapsed();
    let status = response.status();
    if context.draining.is_on() {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    if response.request().version() < Version::HTTP_11
        && response.response().body().size() == BodySize::Stream
    {
        // HTTP/1.0 doesn't have chunks, so the body extends to the end of the connection (RFC 9112,
        // 6.1).
        let head = response.response_mut().head_mut();
        head.no_chunking(true);
        head.set_connection_type(ConnectionType::Close);
    }
    let known = request_id::known(response.request());
    let id = known.or(id).unwrap_or_else(RequestId::next);
    id.mark(response.headers_mut());
    context.edge.complete_location(response.headers_mut());
    if context.edge.has_hsts() && crate::is_https(response.request()) {
        let year = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    if status.is_server_error() {
        report(&response, &id);
    }
    // Clients can send any token as a method, so we only log known methods.
    let method = metrics::method_label(&method);
    metrics::count(&response, method, elapsed);
    let Some(client) = client else { return response };
    let request = response.request();
    let line = Line {
        id,
        trace,
        method,
        path: pattern(&context.operations, request),
        status,
        client,
        key: request.extensions().get::<KeyNumber>().and_then(KeyNumber::get),
        note: (context.shell.log_note)(request),
        started,
        suppressed: 0,
    };
    response.map_body(|_, body| line.write_with(body))
}

/// Returns the operation's route pattern, falling back to the pattern that the router matched.
fn pattern(operations: &Operations, request: &HttpRequest) -> Cow<'static, str> {
    if let Some(metrics::RouteLabel(route)) = request.extensions().get() {
        return route.clone();
    }
    let path = request.path();
    let routed = || request.match_pattern().filter(|_| !operations.is_documentation(path));
    match operations.find(path) {
        Some(operation) => Cow::Owned(operation.template().to_owned()),
        None => Cow::Owned(routed().unwrap_or_else(|| operations.redact(path).into_owned())),
    }
}

/// Logs the cause of a 5xx response once, with the request ID that the client gets.
fn report(response: &ServiceResponse, id: &RequestId) {
    if let Some(error) = response.response().error() {
        let status = response.status().as_u16();
        log::error!(request_id = id.to_string().as_str(), status = status; "{error}");
    }
}

/// The inner layer, which takes care of CORS and preflight requests, turns `HEAD` into `GET`, and
/// applies path rules and compression.
async fn shape<S: Service>(
    context: Rc<Context<S>>,
    mut request: ServiceRequest,
    next: Next,
) -> Result<ServiceResponse, Error> {
    let rule = (context.shell.cors)(&request);
    if let Some(rule) = rule.filter(|_| CorsRule::is_preflight(&request)) {
        return Ok(rule.answer_preflight(request));
    }
    if request.method() == Method::HEAD {
        // The connection remembers the original method and leaves out the body.
        request.head_mut().method = Method::GET;
        request.extensions_mut().insert(HeadRequest);
    }
    if let Some(path) = context.operations.canonical(request.path()) {
        rewrite(&mut request, path);
    }
    let mut response = next.call(request).await?;
    if context.shell.compression
        && let Some(coding) = compression::coding_for(&mut response)
    {
        response = Box::pin(compression::apply(response, coding)).await;
    }
    if let Some(rule) = rule {
        rule.mark(response.headers_mut());
    }
    Ok(response)
}

/// Replaces a request's path before routing, keeping its query.
fn rewrite(request: &mut ServiceRequest, mut path: String) {
    if let Some(query) = request.uri().query() {
        path.push('?');
        path.push_str(query);
    }
    let Ok(target) = PathAndQuery::try_from(path) else { return };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

/// Responds to requests that have no route: with 405 if the path supports other methods, and with
/// 404 otherwise.
async fn unrouted(request: HttpRequest) -> HttpResponse {
    let allow = operations(&request).methods_of(request.path());
    let fault = if allow.is_empty() { Fault::NotFound } else { Fault::MethodNotAllowed { allow } };
    fault.response(&request)
}
