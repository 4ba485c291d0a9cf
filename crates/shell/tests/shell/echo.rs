//! The service under test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::dev::ServiceRequest;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, get, post};
use futures_util::future::LocalBoxFuture;
use serde::Deserialize;
use shell::{
    CorsRule, Credentials, ErrorFormat, Fault, Json, Path, Query, RequestInfo, Routes, Running,
    Server, Service, ServiceInfo, Shell, ShellSettings,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use utoipa::OpenApi;
use validator::Validate;

#[derive(OpenApi)]
#[openapi(info(title = "Echo", license(name = "MIT")))]
struct Document;

#[derive(Clone)]
pub struct Echo {
    pub broken: Arc<AtomicBool>,
    /// Set to true if part of the data is missing.
    pub partial: Arc<AtomicBool>,
    pub gate: Data<Gate>,
}

impl Default for Echo {
    fn default() -> Self {
        Self { broken: Arc::default(), partial: Arc::default(), gate: Data::new(Gate::default()) }
    }
}

/// Lets a test hold a request in its handler.
#[derive(Default)]
pub struct Gate {
    pub entered: Notify,
    pub leave: Notify,
    pub ended: Notify,
    /// The number of chunks of endless responses that were produced.
    pub parts: AtomicUsize,
    /// Makes the background task panic.
    pub fail: Notify,
}

async fn work(gate: Data<Gate>) {
    gate.fail.notified().await;
    panic!("on purpose");
}

/// Notifies when a handler has returned or was dropped.
struct Ending<'a>(&'a Notify);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[derive(Deserialize, Validate, utoipa::IntoParams)]
struct Count {
    #[validate(range(min = 1, max = 9, message = "count must be between 1 and 9"))]
    count: u8,
}

#[derive(Deserialize, Validate, utoipa::IntoParams)]
struct Step {
    milliseconds: u64,
}

#[derive(Deserialize, Validate)]
struct Text {
    text: Option<String>,
}

#[derive(Deserialize, Validate, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    #[validate(length(min = 1))]
    text: String,
}

#[utoipa::path(operation_id = "repeat", responses((status = 200)))]
#[get("/repeat/{count}")]
async fn repeat(path: Path<Count>, text: Query<Text>) -> String {
    text.text.as_deref().unwrap_or("x").repeat(path.count.into())
}

#[utoipa::path(operation_id = "count", responses((status = 200)))]
#[get("/count")]
async fn count(query: Query<Count>) -> String {
    query.count.to_string()
}

#[utoipa::path(operation_id = "client", responses((status = 200)))]
#[get("/client")]
async fn client_address(request: HttpRequest) -> String {
    shell::client_ip(&request).to_string()
}

#[utoipa::path(operation_id = "note", responses((status = 200)))]
#[post("/note")]
async fn note(body: Json<Note>) -> String {
    body.text.clone()
}

#[utoipa::path(operation_id = "long", responses((status = 200)))]
#[get("/long")]
async fn long() -> String {
    "long ".repeat(1000)
}

#[utoipa::path(operation_id = "panics", responses((status = 500)))]
#[get("/panics")]
async fn panics() -> String {
    panic!("on purpose")
}

#[utoipa::path(operation_id = "slow", responses((status = 200)))]
#[get("/slow")]
async fn slow(gate: Data<Gate>) -> &'static str {
    let _ending = Ending(&gate.ended);
    gate.entered.notify_one();
    gate.leave.notified().await;
    "slow"
}

#[utoipa::path(operation_id = "big", responses((status = 200)))]
#[get("/big")]
async fn big() -> HttpResponse {
    HttpResponse::Ok().insert_header(("content-encoding", "identity")).body(vec![b'b'; 1 << 20])
}

/// Longer than a connection may hold.
#[utoipa::path(operation_id = "huge", responses((status = 200)))]
#[get("/huge")]
async fn huge() -> HttpResponse {
    HttpResponse::Ok().insert_header(("content-encoding", "identity")).body(vec![b'h'; 40 << 20])
}

#[utoipa::path(operation_id = "endless", responses((status = 200)))]
#[get("/endless")]
async fn endless(gate: Data<Gate>) -> HttpResponse {
    struct Ended(Data<Gate>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.ended.notify_one();
        }
    }
    let ended = Ended(gate);
    let part = Bytes::from_static(&[b'e'; 4096]);
    HttpResponse::Ok().insert_header(("content-encoding", "identity")).streaming(
        futures_util::stream::repeat_with(move || {
            ended.0.parts.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(part.clone())
        }),
    )
}

/// Moves the clock of the worker that runs this handler, so all its timers.
#[utoipa::path(operation_id = "advance", responses((status = 200)))]
#[get("/advance/{milliseconds}")]
async fn advance(path: Path<Step>) -> &'static str {
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(path.milliseconds)).await;
    tokio::time::resume();
    "advanced"
}

struct Errors;

impl ErrorFormat for Errors {
    fn respond(&self, fault: &Fault, request: &RequestInfo) -> HttpResponse {
        let mut answer = match fault {
            Fault::NotFound => HttpResponse::NotFound(),
            Fault::MethodNotAllowed { .. } => HttpResponse::MethodNotAllowed(),
            Fault::Unauthorized(Credentials::Missing) => HttpResponse::Unauthorized(),
            Fault::PayloadTooLarge { .. } => HttpResponse::PayloadTooLarge(),
            Fault::UnsupportedMediaType => HttpResponse::UnsupportedMediaType(),
            Fault::Internal(_) => HttpResponse::InternalServerError(),
            Fault::Unreadable(status) => HttpResponse::build(*status),
            _ => HttpResponse::BadRequest(),
        };
        if let Fault::MethodNotAllowed { allow } = fault {
            let allow: Vec<&str> = allow.iter().map(|method| method.as_str()).collect();
            answer.insert_header(("allow", allow.join(", ")));
        }
        body(&mut answer, fault, request)
    }
}

fn body(answer: &mut HttpResponseBuilder, fault: &Fault, request: &RequestInfo) -> HttpResponse {
    let text = match fault {
        Fault::InvalidPath(violations)
        | Fault::InvalidQuery(violations)
        | Fault::InvalidBody(violations) => violations
            .iter()
            .map(|violation| format!("{}: {}", violation.field, violation.message))
            .collect::<Vec<_>>()
            .join("; "),
        Fault::MalformedBody { line, column, .. } => format!("malformed at {line}:{column}"),
        Fault::Internal(_) => "internal".to_owned(),
        Fault::Unreadable(status) => format!("Unreadable({})", status.as_u16()),
        other => format!("{other:?}"),
    };
    answer.body(format!("{} {}: {text}", request.method, request.uri.path()))
}

static CORS: CorsRule = CorsRule {
    methods: "GET",
    request_headers: "x-key",
    expose: "x-total",
    max_age: Some(60),
    preflight: 204,
};

impl Service for Echo {
    const INFO: ServiceInfo =
        ServiceInfo::new("echo", "Echo", "Returns what it receives.", "1.2.3", 0);

    fn document() -> utoipa::openapi::OpenApi {
        Document::openapi()
    }

    fn operations(routes: &mut Routes<'_>) {
        routes.add(repeat);
        routes.add(count);
        routes.add(client_address);
        routes.add(note);
        routes.add(long);
        routes.add(panics);
        routes.add(slow);
        routes.add(big);
        routes.add(huge);
        routes.add(endless);
        routes.add(advance);
        routes.get_page("/page", async || "page");
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        config.app_data(self.gate.clone());
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(Errors)
    }

    fn shell(&self) -> Shell {
        Shell {
            cors: |request| (request.path() != "/long").then_some(&CORS),
            stop_when_client_leaves: true,
            ..Shell::default()
        }
    }

    fn first(&self, request: &ServiceRequest) -> Option<HttpResponse> {
        assert_ne!(request.path(), "/panics-first", "on purpose");
        None
    }

    fn missing(&self) -> Option<String> {
        self.partial.load(Ordering::SeqCst).then(|| "half of the data".to_owned())
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        vec![Box::pin(work(self.gate.clone()))]
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let broken = self.broken.load(Ordering::SeqCst);
        Box::pin(async move { if broken { Err("no data".to_owned()) } else { Ok(()) } })
    }
}

/// A running echo service and its folder.
pub struct Started {
    pub running: Running,
    pub echo: Echo,
    folder: tempfile::TempDir,
}

impl Started {
    pub async fn with(change: impl FnOnce(&mut ShellSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = ShellSettings::for_tests(folder.path());
        change(&mut settings);
        let echo = Echo::default();
        let running = Server::start(&settings, echo.clone()).await.unwrap();
        Self { running, echo, folder }
    }

    pub async fn new() -> Self {
        Self::with(|_| ()).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.http)
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub fn admin(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.admin)
    }

    pub async fn get(&self, path: &str) -> reqwest::Response {
        client().get(self.url(path)).send().await.unwrap()
    }

    /// Moves the server's clock forward, over a connection that is closed afterwards. Real time
    /// passes too. Requires a server without TLS.
    pub async fn advance(&self, milliseconds: u64) {
        let mut stream = TcpStream::connect(self.running.http).await.unwrap();
        let request =
            format!("GET /advance/{milliseconds} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

pub fn client() -> reqwest::Client {
    let no_redirect = reqwest::redirect::Policy::none();
    reqwest::Client::builder().redirect(no_redirect).no_gzip().no_brotli().build().unwrap()
}
