//! Listeners, signals and graceful shutdown.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::rt::task::JoinHandle;
use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::{Context as _, anyhow, bail};
use futures_util::future::LocalBoxFuture;
use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_B, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET};
use socket2::{SockFilter, SockRef};

use crate::app::{self, Context};
use crate::capacity::{
    DESCRIPTORS_OF_THE_RUNTIME, connections, connections_per_address, open_files,
};
use crate::connection::{self, Entrance, Limits, ParserFaults, Peers};
use crate::docs::Docs;
use crate::edge::Edge;
use crate::health::{self, Background, Draining};
use crate::listen::{self, Listener};
use crate::{
    Hangups, ListenAddress, Operations, Service, ServiceInfo, SettingError, ShellSettings, TlsMode,
    logs, metrics, process_metrics, signals, spans, supervisor, tls,
};

/// How long to keep accepting queued connections while closing the listeners.
const LAST_ACCEPTS: Duration = Duration::from_millis(100);
/// How long a service may take for its last writes, e.g. if its database is not reachable.
const LAST_WRITES: Duration = Duration::from_secs(1);
/// A socket filter that drops packets with SYN but without ACK. Closing a listener resets the
/// connections in its queue, so a rolling restart would otherwise lose requests. With the filter,
/// handshakes in progress are completed and accepted, whereas new clients have to repeat their SYN
/// a second later. By then, the listener is closed and they are rejected.
const NO_NEW_CONNECTIONS: [SockFilter; 5] = {
    const FLAGS: u32 = 13; // Offset in the TCP header.
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    const fn statement(code: u32, k: u32) -> SockFilter {
        SockFilter::new(code as u16, 0, 0, k)
    }
    [
        statement(BPF_LD | BPF_B | BPF_ABS, FLAGS),
        statement(BPF_ALU | BPF_AND | BPF_K, SYN | ACK),
        SockFilter::new((BPF_JMP | BPF_JEQ | BPF_K) as u16, 0, 1, SYN),
        statement(BPF_RET | BPF_K, 0),
        statement(BPF_RET | BPF_K, u32::MAX),
    ]
};
/// Maximum number of connections to the admin port, which use reserved file descriptors.
const ADMIN_CONNECTIONS: usize = 64;

/// Starts servers.
#[derive(Clone, Copy, Debug)]
pub struct Server;

/// A running server.
pub struct Running {
    /// The first plain HTTP address. The port is 0 if there is none (`BIND=unix:…`).
    pub http: SocketAddr,
    /// The HTTPS address in `native` TLS mode.
    pub https: Option<SocketAddr>,
    /// The address for health checks and metrics.
    pub admin: SocketAddr,
    main: ServerHandle,
    side: ServerHandle,
    main_task: JoinHandle<std::io::Result<()>>,
    tasks: Vec<JoinHandle<()>>,
    draining: Draining,
    drain: Duration,
    /// Listeners for requests, which get the filter before they are closed.
    listeners: Vec<TcpListener>,
    unix_sockets: Vec<PathBuf>,
    /// The URLs for plain HTTP, HTTPS and the admin port.
    addresses: [String; 3],
    certificates: Option<tls::Tls>,
    last_writes: LastWrites,
}

/// Calls [`Service::last_writes`].
type LastWrites = Box<dyn Fn() -> LocalBoxFuture<'static, ()> + Send + Sync>;

impl Server {
    /// Binds the listeners and starts serving. Must be called inside an actix system.
    ///
    /// # Errors
    /// Returns an error if an address cannot be bound, a certificate cannot be used, or the open
    /// file limit is too low.
    pub async fn start<S: Service>(
        settings: &ShellSettings,
        service: S,
    ) -> anyhow::Result<Running> {
        Self::start_with(settings, service, certificates(settings)?).await
    }

    async fn start_with<S: Service>(
        settings: &ShellSettings,
        service: S,
        certificates: Option<tls::Tls>,
    ) -> anyhow::Result<Running> {
        // Sets the default for HTTP clients in services and tests. If a provider is already
        // installed, this does nothing.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        spans::start(settings.otlp_endpoint.as_deref(), settings.otlp_ratio, &S::INFO)?;
        connection::show_metrics();
        metrics::set_build(S::INFO.name, S::INFO.version);
        process_metrics::note_start();
        let workers = settings.worker_count();
        let files = open_files(workers, 0)?;
        let plain = listen::bind(&settings.bind, "BIND")?;
        let side = listen::bind(&settings.admin_bind, "ADMIN_BIND")?;
        let encrypted = match certificates {
            Some(_) => listen::bind(&settings.tls_bind, "TLS_BIND")?,
            None => Vec::new(),
        };
        let unbound = SocketAddr::from(([0, 0, 0, 0], 0));
        let http = first_address(&plain).unwrap_or(unbound);
        let admin = first_address(&side).unwrap_or(unbound);
        let https = first_address(&encrypted);
        let addresses = [("http", &plain), ("https", &encrypted), ("http", &side)].map(
            |(scheme, listeners)| {
                let urls: Vec<_> = listeners.iter().map(|listener| listener.url(scheme)).collect();
                urls.join(", ")
            },
        );
        let shell = service.shell();
        let operations = Operations::of(S::operations).with(shell.paths).with_docs(shell.docs);
        let context = Context {
            shell,
            errors: service.errors(),
            edge: Edge::new(settings, https.map(|address| address.port())),
            draining: Draining::default(),
            background: Background::default(),
            operations: Arc::new(operations),
            docs: shell
                .docs
                .then(|| Arc::new(Docs::new(crate::openapi_below::<S>(&settings.base_path())))),
            access_log: settings.access_log.is_on().then_some(settings.log_client),
            service,
        };
        let side = admin_server(&context, side)?;
        let side_handle = side.handle();
        actix_web::rt::spawn(side);
        let spawn = |task| actix_web::rt::spawn(context.background.clone().run(task));
        let mut tasks: Vec<_> = context.service.background().into_iter().map(spawn).collect();
        crate::memory::map_long_buffers_separately();
        tasks.push(actix_web::rt::spawn(crate::memory::trim_after_peaks()));
        let draining = context.draining.clone();
        let half_closed = !context.shell.stop_when_client_leaves;
        let connections = connections(settings, files);
        let per_address = connections_per_address(settings, connections);
        let mut server = actix_server::Server::build()
            .workers(workers)
            .max_concurrent_connections(connections.div_ceil(workers))
            .shutdown_timeout(settings.shutdown_timeout)
            .disable_signals();
        let entrance = Entrance {
            limits: Limits::new(settings, !half_closed),
            tls: None,
            peers: Peers::new(per_address, &settings.trusted_proxies),
            proxy_protocol: settings.proxy_protocol.is_on(),
            faults: Arc::new(ParserFaults::new(context.errors.clone(), context.access_log)),
            drain: draining.signal(),
            half_closed,
            stopping: server.graceful_shutdown_signal(),
        };
        let over_tls = Entrance {
            tls: certificates.as_ref().map(tls::Tls::configuration),
            ..entrance.clone()
        };
        let (mut listeners, mut unix_sockets) = (Vec::new(), Vec::new());
        let plain = plain.into_iter().map(|listener| ("http", listener, entrance.clone()));
        let encrypted = encrypted.into_iter().map(|listener| ("https", listener, over_tls.clone()));
        for (name, listener, entrance) in plain.chain(encrypted) {
            let context = context.clone();
            let app = move || {
                let context = context.clone();
                move || app::build(&context)
            };
            server = match listener {
                Listener::Tcp(listener) => {
                    listeners.push(listener.try_clone()?);
                    let factory = move || connection::listener(entrance.clone(), app());
                    server.listen(name, listener, factory)?
                }
                Listener::Unix(listener, path) => {
                    unix_sockets.push(path);
                    let factory = move || connection::listener(entrance.clone(), app());
                    server.listen_uds(name, listener, factory)?
                }
            };
        }
        let server = server.run();
        let main = server.handle();
        let main_task = actix_web::rt::spawn(server);
        let drain = Duration::from_secs(settings.drain_seconds);
        let service = context.service;
        Ok(Running {
            http,
            https,
            admin,
            main,
            side: side_handle,
            main_task,
            tasks,
            draining,
            drain,
            listeners,
            unix_sockets,
            addresses,
            certificates,
            last_writes: Box::new(move || service.last_writes()),
        })
    }
}

impl Running {
    /// For `DRAIN_SECONDS`, reports that it isn't ready and asks clients to close their
    /// connections. Then finishes open requests and stops.
    pub async fn stop(self) {
        self.draining.begin();
        tokio::time::sleep(self.drain).await;
        for listener in &self.listeners {
            if let Err(error) = SockRef::from(listener).attach_filter(&NO_NEW_CONNECTIONS) {
                log::debug!("a listener keeps accepting connections until it is closed: {error}");
            }
        }
        self.remove_sockets();
        tokio::time::sleep(LAST_ACCEPTS).await;
        self.main.stop(true).await;
        if tokio::time::timeout(LAST_WRITES, (self.last_writes)()).await.is_err() {
            log::warn!("the last writes were not completed in time");
        }
        self.end().await;
    }

    /// Reloads the certificate and key. If they aren't usable, the current ones stay in use.
    pub fn reload(&self) {
        let Some(tls) = &self.certificates else {
            log::info!("SIGHUP: there is no certificate to reload, TLS_MODE is not native");
            return;
        };
        match tls.reload() {
            Ok(()) => log::info!("SIGHUP: certificate and key were reloaded"),
            Err(error) => log::error!("SIGHUP: the current certificate remains in use: {error:#}"),
        }
    }

    /// Waits until the server stops on its own, and returns the reason.
    async fn failed(&mut self) -> anyhow::Error {
        match (&mut self.main_task).await {
            Ok(Ok(())) => anyhow!("the server stopped unexpectedly"),
            Ok(Err(error)) => anyhow!("the server cannot serve: {error}"),
            Err(error) => anyhow!("the server failed: {error}"),
        }
    }

    /// Stops immediately.
    pub async fn kill(self) {
        self.remove_sockets();
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
        // This blocks until the exporter's thread is done.
        let _ = web::block(spans::flush).await;
    }

    /// Removes the Unix sockets while the server is still listening on them. Later, the files might
    /// belong to the next server.
    fn remove_sockets(&self) {
        for path in &self.unix_sockets {
            if let Err(error) = std::fs::remove_file(path) {
                log::debug!("{} was not removed: {error}", path.display());
            }
        }
    }
}

/// Loads the certificates in `native` TLS mode. If another process is creating them, waits for it.
fn certificates(settings: &ShellSettings) -> anyhow::Result<Option<tls::Tls>> {
    (settings.tls_mode == TlsMode::Native).then(|| tls::Tls::open(settings)).transpose()
}

fn first_address(listeners: &[Listener]) -> Option<SocketAddr> {
    listeners.iter().find_map(|listener| match listener {
        Listener::Tcp(listener) => listener.local_addr().ok(),
        Listener::Unix(..) => None,
    })
}

/// Checks the data folder, the certificate and the addresses. Called before the service opens its
/// data, so that a server with a wrong setting doesn't create or migrate a database.
///
/// # Errors
/// Returns an error that names the setting.
pub(crate) fn require_usable(info: &ServiceInfo, settings: &ShellSettings) -> anyhow::Result<()> {
    let folder = &settings.data_dir;
    if folder.metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(SettingError(format!(
            "DATA_DIR: {} is a file, but must be a folder; name a folder such as \
             DATA_DIR=/var/lib/{}",
            folder.display(),
            info.name
        ))
        .into());
    }
    let is_native = settings.tls_mode == TlsMode::Native;
    if is_native {
        tls::check_given(settings)?;
    }
    let encrypted: &[ListenAddress] = if is_native { &settings.tls_bind } else { &[] };
    for (addresses, setting) in [
        (&settings.bind[..], "BIND"),
        (encrypted, "TLS_BIND"),
        (&settings.admin_bind[..], "ADMIN_BIND"),
    ] {
        let taken = listen::in_use(addresses).context(setting)?;
        if let Some(address) = taken.first() {
            bail!("cannot listen on {address} ({setting}): it is in use by another program");
        }
    }
    Ok(())
}

/// Runs a server until it receives SIGTERM or SIGINT.
///
/// # Errors
/// See [`Server::start`].
pub fn serve<S: Service>(settings: &ShellSettings, service: S) -> anyhow::Result<ExitCode> {
    // If the open file limit were too low, the runtime would panic.
    open_files(settings.worker_count(), DESCRIPTORS_OF_THE_RUNTIME)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    actix_web::rt::System::with_tokio_rt(|| runtime).block_on(async {
        // Worker threads might still be dropping thread-locals while the process exits. If one of
        // them dropped the last handle to the system, it would wake the runtime and abort the
        // process.
        std::mem::forget(actix_web::rt::System::current());
        let mut hangups = Hangups::subscribe();
        let certificates = certificates(settings)?;
        // As soon as a port is open, it accepts requests that a shutdown then has to finish.
        let mut stop = std::pin::pin!(signals::stop());
        let mut running = Server::start_with(settings, service, certificates).await?;
        announce::<S>(settings, &running);
        supervisor::ready();
        actix_web::rt::spawn(supervisor::keep_alive());
        loop {
            tokio::select! {
                name = &mut stop => log::info!("{name}: finishing requests"),
                () = hangups.next() => {
                    supervisor::reloading();
                    running.reload();
                    supervisor::ready();
                    continue;
                }
                error = running.failed() => return Err(error),
            }
            break;
        }
        supervisor::stopping();
        let limit = Duration::from_secs(settings.drain_seconds + settings.shutdown_timeout + 1);
        end_after(limit + Duration::from_secs(1));
        if tokio::time::timeout(limit, running.stop()).await.is_err() {
            log::warn!("requests still running after SHUTDOWN_TIMEOUT were cut off");
        }
        log::info!("stopped");
        logs::flush();
        // A blocking task that hangs would keep the runtime, and thus the process, alive.
        std::process::exit(0)
    })
}

/// Exits the process if a graceful stop takes longer than `limit`.
fn end_after(limit: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(limit);
        log::warn!("stopping took longer than SHUTDOWN_TIMEOUT; exiting");
        logs::flush();
        std::process::exit(0);
    });
}

fn announce<S: Service>(settings: &ShellSettings, running: &Running) {
    let name = S::INFO.name;
    if settings.tls_mode == TlsMode::Off && S::INFO.tls_mode == TlsMode::Native {
        log::warn!("TLS_MODE=off: {name} serves plain HTTP, for development only");
    }
    if let Some(warning) = settings.proxy_warning() {
        log::warn!("{warning}");
    }
    let [http, https, admin] = &running.addresses;
    if https.is_empty() {
        log::info!("{name} serves {http}");
    } else {
        log::info!("{name} serves {https}; {http} redirects to it");
    }
    log::info!("health and metrics on {admin}");
}

fn admin_server<S: Service>(
    context: &Context<S>,
    listeners: Vec<Listener>,
) -> std::io::Result<actix_web::dev::Server> {
    let context = context.clone();
    let mut server = HttpServer::new(move || {
        let (alive, ready) = (probe(&context), probe(&context));
        App::new()
            .route("/healthz", web::get().to(move || alive("/healthz")))
            .route("/readyz", web::get().to(move || ready("/readyz")))
            .route("/metrics", web::get().to(scrape))
    });
    for listener in listeners {
        server = match listener {
            Listener::Tcp(listener) => server.listen(listener)?,
            Listener::Unix(listener, _) => server.listen_uds(listener)?,
        };
    }
    Ok(server.workers(1).max_connections(ADMIN_CONNECTIONS).disable_signals().run())
}

type Answer = LocalBoxFuture<'static, HttpResponse>;

fn probe<S: Service>(context: &Context<S>) -> impl Fn(&'static str) -> Answer + Clone + use<S> {
    let Context { service, draining, background, .. } = context.clone();
    move |path| {
        let (service, draining) = (service.clone(), draining.clone());
        let background = background.clone();
        Box::pin(async move { health::answer(path, &service, &draining, &background).await })
    }
}

async fn scrape() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(metrics::render())
}
