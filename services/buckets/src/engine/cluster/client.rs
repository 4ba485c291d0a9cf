//! Statements to the cluster's servers over HTTP.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use reqwest::Url;
use tokio::runtime::Runtime;

pub(super) use super::error::ClusterError;
use super::error::server_error;
use super::target::Target;
use crate::engine::limits::Limits;

/// How long a server may be silent when a connection is made.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a statement may take that no search waits for.
const PATIENCE: Duration = Duration::from_secs(24 * 3_600);
/// How long a statement may take that only looks something up.
const SOON: Duration = Duration::from_secs(10);
/// How often a waiting search looks whether it has to stop.
const TICK: Duration = Duration::from_millis(20);
/// Servers of 18.16 close an idle connection after three seconds.
const IDLE: Duration = Duration::from_millis(1_500);
/// A connection to all servers; statements go to one of them each.
pub(super) struct Client {
    pub(super) target: Target,
    http: reqwest::Client,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
    /// Nanoseconds of its beginning and a number make the names of statements different.
    began: u128,
    asked: AtomicU64,
}

impl Client {
    pub(super) fn new(target: Target) -> Result<Self, ClusterError> {
        // Whoever installed another one first has decided.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .tcp_keepalive(Duration::from_secs(30))
            .pool_idle_timeout(IDLE)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| ClusterError::Wrong(format!("no HTTP client: {error}")))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("cluster")
            .enable_all()
            .build()
            .map_err(|error| ClusterError::Wrong(format!("no thread for HTTP: {error}")))?;
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (runtime, began) = (Some(runtime), began.as_nanos());
        Ok(Self { target, http, runtime, began, asked: AtomicU64::default() })
    }

    /// Runs a statement and waits for its answer.
    pub(super) fn ask(&self, server: &Url, statement: &str) -> Result<Vec<u8>, ClusterError> {
        self.ask_for(server, statement, PATIENCE)
    }

    /// Looks something up; a server that is silent is taken for one that is away.
    pub(super) fn look_up(&self, server: &Url, statement: &str) -> Result<Vec<u8>, ClusterError> {
        self.ask_for(server, statement, SOON)
    }

    fn ask_for(
        &self,
        server: &Url,
        statement: &str,
        patience: Duration,
    ) -> Result<Vec<u8>, ClusterError> {
        let limits = Limits::until(Instant::now() + patience, 1);
        self.ask_within(server, statement, &limits).map_err(|error| match error {
            ClusterError::Stopped => {
                ClusterError::Silent(format!("no answer within {} s", patience.as_secs()))
            }
            other => other,
        })
    }

    /// Runs a statement as long as a search may take.
    pub(super) fn ask_within(
        &self,
        server: &Url,
        statement: &str,
        limits: &Limits,
    ) -> Result<Vec<u8>, ClusterError> {
        let left = limits.deadline.saturating_duration_since(Instant::now()).min(PATIENCE);
        let name = self.name();
        let seconds = (left.as_secs() + 1).to_string();
        let request = self
            .request(server, &name, left + CONNECT, &[("max_execution_time", &seconds)])
            .body(statement.to_owned());
        let answer = self.wait(answer_of(request), limits);
        if matches!(answer, Err(ClusterError::Stopped)) {
            self.cancel(server, &name);
        }
        answer
    }

    /// Starts an insert of rows; the receiver says how it ended.
    pub(super) fn insert(
        &self,
        server: &Url,
        statement: &str,
        rows: Vec<u8>,
    ) -> Result<Pending, ClusterError> {
        let settings = [("insert_distributed_sync", "1"), ("query", statement)];
        let request = self.request(server, &self.name(), PATIENCE, &settings).body(rows);
        let (send, receive) = sync_channel(1);
        self.runtime()?.spawn(async move {
            // The receiver may be gone; then nobody asks how it ended.
            let _ = send.send(answer_of(request).await.map(drop));
        });
        Ok(Pending(receive))
    }

    /// Runs something beside the statements until it is dropped.
    pub(super) fn beside(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<tokio::task::AbortHandle, ClusterError> {
        Ok(self.runtime()?.spawn(work).abort_handle())
    }

    /// A statement to be sent by somebody else than the caller.
    pub(super) fn prepared(&self, server: &Url, statement: String) -> reqwest::RequestBuilder {
        self.request(server, &self.name(), CONNECT * 2, &[]).body(statement)
    }

    fn request(
        &self,
        server: &Url,
        name: &str,
        timeout: Duration,
        settings: &[(&str, &str)],
    ) -> reqwest::RequestBuilder {
        let mut url = server.clone();
        url.query_pairs_mut()
            .append_pair("database", &self.target.database)
            .append_pair("query_id", name)
            // The status then tells whether the whole answer is there.
            .append_pair("wait_end_of_query", "1")
            .append_pair("buffer_size", "8388608")
            // Lists of ids are long.
            .append_pair("max_query_size", "67108864")
            .append_pair("max_ast_elements", "10000000")
            .append_pair("max_expanded_ast_elements", "10000000")
            .extend_pairs(settings);
        self.http
            .post(url)
            .basic_auth(&self.target.user, Some(&self.target.password))
            .timeout(timeout)
    }

    fn name(&self) -> String {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        format!("buckets-{}-{:x}-{number}", std::process::id(), self.began)
    }

    fn runtime(&self) -> Result<&Runtime, ClusterError> {
        self.runtime.as_ref().ok_or_else(|| ClusterError::Silent("it is being closed".to_owned()))
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ClusterError>> + Send + 'static,
        limits: &Limits,
    ) -> Result<T, ClusterError> {
        let (send, receive) = sync_channel(1);
        let task = self.runtime()?.spawn(async move {
            // The receiver is gone when the search was stopped.
            let _ = send.send(work.await);
        });
        loop {
            match receive.recv_timeout(TICK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if limits.check().is_ok() => {}
                Err(RecvTimeoutError::Timeout) => {
                    task.abort();
                    return Err(ClusterError::Stopped);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ClusterError::Silent("the request was lost".to_owned()));
                }
            }
        }
    }

    /// Tells a server that nobody waits any more; it stops by itself at the time limit.
    fn cancel(&self, server: &Url, name: &str) {
        let statement = format!("KILL QUERY WHERE query_id = {} ASYNC", super::sql::text(name));
        let request = self.prepared(server, statement);
        if let Ok(runtime) = self.runtime() {
            runtime.spawn(async move {
                if let Err(error) = answer_of(request).await {
                    log::debug!("a search could not be cancelled: {error}");
                }
            });
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Waiting for its threads is not allowed where this may be dropped.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// An insert under way.
pub(super) struct Pending(std::sync::mpsc::Receiver<Result<(), ClusterError>>);

impl Pending {
    pub(super) fn finish(self) -> Result<(), ClusterError> {
        self.0
            .recv()
            .unwrap_or_else(|_| Err(ClusterError::Silent("the request was lost".to_owned())))
    }
}

async fn answer_of(request: reqwest::RequestBuilder) -> Result<Vec<u8>, ClusterError> {
    let silent = |error: reqwest::Error| {
        if error.is_timeout() && !error.is_connect() {
            return ClusterError::Stopped;
        }
        let error = error.without_url();
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        ClusterError::Silent(text)
    };
    let answer = request.send().await.map_err(silent)?;
    let fine = answer.status().is_success();
    let status = answer.status();
    let body = answer.bytes().await.map_err(silent)?;
    if fine {
        return Ok(body.to_vec());
    }
    Err(server_error(status.as_u16(), &String::from_utf8_lossy(&body)))
}
