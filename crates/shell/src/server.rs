//! Listeners, signals and the graceful stop.

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::rt::task::JoinHandle;
use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::{self, Context};
use crate::edge::Edge;
use crate::health::{self, Draining};
use crate::openapi::RouteTable;
use crate::{Service, ShellSettings, TlsMode, metrics, openapi, tls};

/// Starts servers.
#[derive(Clone, Copy, Debug)]
pub struct Server;

/// A server that runs.
pub struct Running {
    /// Address of plain HTTP.
    pub http: SocketAddr,
    /// Address of HTTPS, in the TLS mode `native`.
    pub https: Option<SocketAddr>,
    /// Address of health and metrics.
    pub admin: SocketAddr,
    main: ServerHandle,
    side: ServerHandle,
    main_task: JoinHandle<std::io::Result<()>>,
    tasks: Vec<JoinHandle<()>>,
    draining: Draining,
}

impl Server {
    /// Binds the listeners and starts to serve; must run inside an actix system.
    ///
    /// # Errors
    /// An address that cannot be bound, or a certificate that cannot be used.
    pub async fn start<S: Service>(
        settings: &ShellSettings,
        service: S,
    ) -> anyhow::Result<Running> {
        // Clients that a service or its tests make find it; an earlier choice stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = bind(settings.bind, "BIND")?;
        let admin_listener = bind(settings.admin_bind, "ADMIN_BIND")?;
        let secure = match settings.tls_mode {
            TlsMode::Native => {
                Some((bind(settings.tls_bind, "TLS_BIND")?, tls::configuration(settings)?))
            }
            TlsMode::Off | TlsMode::Proxy => None,
        };
        let (http, admin) = (listener.local_addr()?, admin_listener.local_addr()?);
        let https = secure.as_ref().map(|(listener, _)| listener.local_addr()).transpose()?;
        let shell = service.shell();
        let context = Context {
            shell,
            errors: service.errors(),
            edge: Edge::new(settings, https.map(|address| address.port())),
            draining: Draining::default(),
            routes: Arc::new(RouteTable::of(&openapi::document::<S>(), shell.docs)),
            access_log: settings.access_log.is_on(),
            service,
        };
        let side = admin_server(&context, admin_listener)?;
        let side_handle = side.handle();
        actix_web::rt::spawn(side);
        let tasks = context.service.background().into_iter().map(actix_web::rt::spawn).collect();
        let draining = context.draining.clone();
        let half_closed = !context.shell.stop_when_client_leaves;
        let mut server = HttpServer::new(move || app::build(&context))
            .h1_allow_half_closed(half_closed)
            .workers(settings.worker_count())
            .shutdown_timeout(settings.shutdown_timeout)
            .disable_signals()
            .listen(listener)?;
        if let Some((listener, configuration)) = secure {
            server = server.listen_rustls_0_23(listener, configuration)?;
        }
        let server = server.run();
        let main = server.handle();
        let main_task = actix_web::rt::spawn(server);
        Ok(Running { http, https, admin, main, side: side_handle, main_task, tasks, draining })
    }
}

impl Running {
    /// Refuses readiness, finishes the requests under way, stops.
    pub async fn stop(self) {
        self.draining.begin();
        self.main.stop(true).await;
        self.end().await;
    }

    /// Stops at once.
    pub async fn kill(self) {
        self.main.stop(false).await;
        self.end().await;
    }

    async fn end(self) {
        for task in self.tasks {
            task.abort();
        }
        if let Ok(Err(error)) = self.main_task.await {
            log::error!("the server ended with an error: {error}");
        }
        self.side.stop(false).await;
    }
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// See [`Server::start`].
pub fn serve<S: Service>(settings: &ShellSettings, service: S) -> anyhow::Result<ExitCode> {
    actix_web::rt::System::new().block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let running = Server::start(settings, service).await?;
        announce::<S>(settings, &running);
        tokio::select! {
            _ = terminate.recv() => log::info!("SIGTERM: finishing requests"),
            _ = interrupt.recv() => log::info!("SIGINT: finishing requests"),
        }
        let limit = Duration::from_secs(settings.shutdown_timeout + 5);
        if tokio::time::timeout(limit, running.stop()).await.is_err() {
            log::warn!("requests still running after SHUTDOWN_TIMEOUT were cut");
        }
        log::info!("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

fn announce<S: Service>(settings: &ShellSettings, running: &Running) {
    let name = S::INFO.name;
    if settings.tls_mode == TlsMode::Off && S::INFO.tls_mode == TlsMode::Native {
        log::warn!("TLS_MODE=off: {name} serves plain HTTP, for development only");
    }
    if let Some(https) = running.https {
        log::info!("{name} serves https://{https}; http://{} answers 301", running.http);
    } else {
        log::info!("{name} serves http://{}", running.http);
    }
    log::info!("health and metrics on http://{}", running.admin);
}

fn bind(address: SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen on {address} ({setting})"))
}

fn admin_server<S: Service>(
    context: &Context<S>,
    listener: TcpListener,
) -> std::io::Result<actix_web::dev::Server> {
    let (service, draining) = (context.service.clone(), context.draining.clone());
    let server = HttpServer::new(move || {
        let (alive, ready) = (probe(&service, &draining), probe(&service, &draining));
        App::new()
            .route("/healthz", web::get().to(move || alive("/healthz")))
            .route("/readyz", web::get().to(move || ready("/readyz")))
            .route("/metrics", web::get().to(scrape))
    });
    Ok(server.workers(1).disable_signals().listen(listener)?.run())
}

type Answer = futures_util::future::LocalBoxFuture<'static, HttpResponse>;

fn probe<S: Service>(
    service: &S,
    draining: &Draining,
) -> impl Fn(&'static str) -> Answer + Clone + use<S> {
    let (service, draining) = (service.clone(), draining.clone());
    move |path| {
        let (service, draining) = (service.clone(), draining.clone());
        Box::pin(async move { health::answer(path, &service, &draining).await })
    }
}

async fn scrape() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(metrics::render())
}
