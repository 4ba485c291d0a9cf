//! The one place where the layers around a service are put in order.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_http::ConnectionType;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::middleware::from_fn;
use actix_web::{App, Error, HttpMessage, HttpRequest, HttpResponse, web};
use futures_util::FutureExt;
use utoipa_swagger_ui::SwaggerUi;

use crate::edge::Edge;
use crate::health::{self, Draining};
use crate::{
    CorsRule, ErrorFormat, Fault, Next, Operations, RequestId, RequestInfo, Service, Shell,
    compression, metrics, operations, request_id, routes,
};

/// What every worker shares.
#[derive(Clone)]
pub(crate) struct Context<S> {
    pub(crate) service: S,
    pub(crate) shell: Shell,
    pub(crate) errors: Arc<dyn ErrorFormat>,
    pub(crate) edge: Edge,
    pub(crate) draining: Draining,
    pub(crate) operations: Arc<Operations>,
    pub(crate) access_log: bool,
}

/// A request as it came in, before a layer gave it another path or method.
struct Seen {
    method: Method,
    uri: Uri,
}

/// Marks a request that came as `HEAD`.
struct HeadRequest;

/// Whether a request came as `HEAD`: handlers see it as `GET`, and need not make a body.
///
/// ```
/// use actix_web::test::TestRequest;
///
/// assert!(!shell::is_head(&TestRequest::default().to_http_request()));
/// ```
pub fn is_head(request: &HttpRequest) -> bool {
    request.extensions().contains::<HeadRequest>()
}

/// The whole application of one worker; the layer added last is the first that a request meets.
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
    let (outer, service) = (Rc::new(context.clone()), context.service.clone());
    let (shell, operations) = (context.shell, context.operations.clone());
    App::new()
        .configure(|config| routes::serve(config, S::operations))
        .app_data(context.errors.clone())
        .app_data(context.edge.clone())
        .app_data(context.operations.clone())
        .app_data(context.shell.rules)
        .configure(|config| context.service.state(config))
        .configure(|config| add_docs(config, context.shell, crate::document::<S>()))
        .default_service(web::to(unrouted))
        .wrap(from_fn(move |request, next| shape(shell, operations.clone(), request, next)))
        .wrap(from_fn(move |request, next| service.around(request, next)))
        .wrap(from_fn(move |request, next| oversee(outer.clone(), request, next)))
}

fn add_docs(config: &mut web::ServiceConfig, shell: Shell, document: utoipa::openapi::OpenApi) {
    if shell.docs {
        config
            .service(web::redirect("/docs", "/docs/"))
            .service(SwaggerUi::new("/docs/{_:.*}").url("/openapi.json", document));
    }
}

/// Outermost: health, 301, panics, metrics, access log.
///
/// A request gets its id where one is first asked for: in an error, in the log, in a handler.
async fn oversee<S: Service>(
    context: Rc<Context<S>>,
    request: ServiceRequest,
    next: Next,
) -> Result<ServiceResponse, Error> {
    if health::is_health(request.path()) {
        let answer = health::answer(request.path(), &context.service, &context.draining).await;
        return Ok(request.into_response(answer));
    }
    let started = Instant::now();
    let seen = Seen { method: request.method().clone(), uri: request.uri().clone() };
    let response = match context.edge.redirect(&request) {
        Some(target) => request.into_response(moved(&target)),
        None => {
            // A clone of the request would forbid the layers below to change it, so that a
            // panic, which takes the request with it, is answered without one.
            let answered = AssertUnwindSafe(answer(&context.service, request, next));
            let Ok(result) = answered.catch_unwind().await else {
                return Err(panicked(&*context.errors, seen));
            };
            result?
        }
    };
    finish(&context, response, &seen, started)
}

/// What the service answers before anything else, else what the layers below do.
async fn answer<S: Service>(
    service: &S,
    request: ServiceRequest,
    next: Next,
) -> Result<ServiceResponse, Error> {
    match service.first(&request) {
        Some(response) => Ok(request.into_response(response)),
        None => next.call(request).await,
    }
}

fn moved(target: &str) -> HttpResponse {
    match HeaderValue::from_str(target) {
        Ok(location) => {
            HttpResponse::MovedPermanently().insert_header((header::LOCATION, location)).finish()
        }
        Err(_) => HttpResponse::BadRequest().finish(),
    }
}

fn panicked(errors: &dyn ErrorFormat, seen: Seen) -> Error {
    let info = RequestInfo { method: seen.method, uri: seen.uri, id: RequestId::next() };
    log::error!(request_id = info.id.to_string().as_str(); "a handler panicked");
    let response = errors.respond(&Fault::Internal("panic".to_owned()), &info);
    actix_web::error::InternalError::from_response("panic", response).into()
}

fn finish<S: Service>(
    context: &Context<S>,
    mut response: ServiceResponse,
    seen: &Seen,
    started: Instant,
) -> Result<ServiceResponse, Error> {
    let elapsed = started.elapsed();
    let status = response.status();
    if context.draining.is_on() {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    if status.is_server_error() {
        report(&mut response);
    }
    metrics::count(&response, metrics::method_label(&seen.method), elapsed);
    if context.access_log {
        let bytes = match response.response().body().size() {
            BodySize::Sized(bytes) => bytes,
            _ => 0,
        };
        log::info!(
            target: "access",
            request_id = request_id(response.request()).to_string().as_str(),
            method = seen.method.as_str(),
            path = (context.shell.redact)(&context.operations, &seen.uri).as_ref(),
            status = status.as_u16(),
            bytes = bytes,
            seconds = elapsed.as_secs_f64();
            "request{}", (context.shell.log_note)(response.request())
        );
    }
    Ok(response)
}

/// Logs the cause of a 5xx once and names the request in the answer, so that both can be matched.
fn report(response: &mut ServiceResponse) {
    let id = request_id(response.request()).to_string();
    if let Some(error) = response.response().error() {
        let status = response.status().as_u16();
        log::error!(request_id = id.as_str(), status = status; "{error}");
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(header::HeaderName::from_static("x-request-id"), value);
    }
}

/// CORS and preflight, `HEAD` as `GET`, the path rule, compression.
async fn shape(
    shell: Shell,
    operations: Arc<Operations>,
    mut request: ServiceRequest,
    next: Next,
) -> Result<ServiceResponse, Error> {
    let rule = (shell.cors)(&request);
    if let Some(rule) = rule.filter(|_| CorsRule::is_preflight(&request)) {
        return Ok(rule.answer_preflight(request));
    }
    if request.method() == Method::HEAD {
        // The connection remembers the method as sent and leaves out the body.
        request.head_mut().method = Method::GET;
        request.extensions_mut().insert(HeadRequest);
    }
    if let Some(path) = operations.canonical(request.path()) {
        rewrite(&mut request, &path);
    }
    let mut response = next.call(request).await?;
    if shell.compression {
        response = compression::apply(response);
    }
    if let Some(rule) = rule {
        rule.mark(response.headers_mut());
    }
    Ok(response)
}

/// Gives a request another path before it is routed; the query stays.
fn rewrite(request: &mut ServiceRequest, path: &str) {
    let target = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let Ok(target) = PathAndQuery::try_from(target) else { return };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

/// Answers what no route took: 405 where the path has other methods, else 404.
async fn unrouted(request: HttpRequest) -> HttpResponse {
    let allow = operations(&request).methods_of(request.path());
    let fault = if allow.is_empty() { Fault::NotFound } else { Fault::MethodNotAllowed { allow } };
    fault.response(&request)
}
