//! Runs SQL statements on a cluster's servers over HTTP.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use reqwest::Url;
use tokio::runtime::Runtime;

pub(super) use super::error::ClusterError;
use super::error::server_error;
use super::sql;
use super::target::Target;
use crate::engine::limits::Limits;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for statements that aren't part of a search.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);
/// Timeout for quick lookups.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which a waiting search checks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// ClickHouse 18.16 closes idle connections after three seconds, so this has to be shorter.
const IDLE_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Maximum number of attempts to list the tables while other processes are dropping tables.
const MOST_LISTINGS: u32 = 50;

/// HTTP client for all servers in the cluster.
pub(super) struct Client {
    pub(super) target: Target,
    http: reqwest::Client,
    /// Only `None` while dropping.
    runtime: Option<Runtime>,
    /// Start time in nanoseconds. Together with the counter, it makes query ids unique.
    began: u128,
    statements: AtomicU64,
}

impl Client {
    pub(super) fn new(target: Target) -> Result<Self, ClusterError> {
        // Fails if a crypto provider is already installed. In that case, we use the installed
        // provider.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(Duration::from_secs(30))
            .pool_idle_timeout(IDLE_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                ClusterError::Invalid(format!("cannot create the HTTP client: {error}"))
            })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("cluster")
            .enable_all()
            .build()
            .map_err(|error| {
                ClusterError::Invalid(format!("the HTTP runtime cannot be started: {error}"))
            })?;
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (runtime, began) = (Some(runtime), began.as_nanos());
        Ok(Self { target, http, runtime, began, statements: AtomicU64::default() })
    }

    /// Runs a statement and returns the response.
    pub(super) fn execute(&self, server: &Url, statement: &str) -> Result<Vec<u8>, ClusterError> {
        self.execute_for(server, statement, STATEMENT_TIMEOUT)
    }

    /// Lists the tables of our database whose names begin with `begin`.
    pub(super) fn table_names(
        &self,
        server: &Url,
        begin: &str,
    ) -> Result<Vec<String>, ClusterError> {
        let statement = format!(
            "SELECT name FROM system.tables WHERE database = {} AND startsWith(name, {}) FORMAT TSV",
            sql::text(&self.target.database),
            sql::text(begin)
        );
        // ClickHouse 18.16 returns an error if any table is dropped during this query.
        let mut tries = 0;
        let answer = loop {
            tries += 1;
            match self.execute(server, &statement) {
                Err(error) if error.is_missing_table() && tries < MOST_LISTINGS => {}
                answer => break answer?,
            }
        };
        Ok(String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect())
    }

    /// Runs a quick lookup. Servers that take too long count as unreachable.
    pub(super) fn look_up(&self, server: &Url, statement: &str) -> Result<Vec<u8>, ClusterError> {
        self.execute_for(server, statement, LOOKUP_TIMEOUT)
    }

    fn execute_for(
        &self,
        server: &Url,
        statement: &str,
        timeout: Duration,
    ) -> Result<Vec<u8>, ClusterError> {
        let limits = Limits::until(Instant::now() + timeout, 1);
        self.execute_within(server, statement, &limits).map_err(|error| match error {
            ClusterError::Stopped => {
                ClusterError::Unreachable(format!("no response within {} s", timeout.as_secs()))
            }
            other => other,
        })
    }

    /// Runs a statement within a search's limits.
    pub(super) fn execute_within(
        &self,
        server: &Url,
        statement: &str,
        limits: &Limits,
    ) -> Result<Vec<u8>, ClusterError> {
        let left = limits.deadline.saturating_duration_since(Instant::now()).min(STATEMENT_TIMEOUT);
        let name = self.name();
        let seconds = (left.as_secs() + 1).to_string();
        let request = self
            .request(server, &name, left + CONNECT_TIMEOUT, &[("max_execution_time", &seconds)])
            .body(statement.to_owned());
        let answer = self.wait(answer_of(request), limits);
        if matches!(answer, Err(ClusterError::Stopped)) {
            self.cancel(server, &name);
        }
        answer
    }

    /// Starts an insert. Wait for it with [`Pending::finish`].
    pub(super) fn insert(
        &self,
        server: &Url,
        statement: &str,
        rows: Vec<u8>,
    ) -> Result<Pending, ClusterError> {
        let settings = [("insert_distributed_sync", "1"), ("query", statement)];
        let request = self.request(server, &self.name(), STATEMENT_TIMEOUT, &settings).body(rows);
        let (send, receive) = sync_channel(1);
        self.runtime()?.spawn(async move {
            // Fails if the receiver is gone. In that case, the result isn't needed anymore.
            let _ = send.send(answer_of(request).await.map(drop));
        });
        Ok(Pending(receive))
    }

    /// Spawns a background task. Abort it through the returned handle.
    pub(super) fn spawn(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<tokio::task::AbortHandle, ClusterError> {
        Ok(self.runtime()?.spawn(work).abort_handle())
    }

    /// Builds a request without sending it.
    pub(super) fn prepared(&self, server: &Url, statement: String) -> reqwest::RequestBuilder {
        self.request(server, &self.name(), CONNECT_TIMEOUT * 2, &[]).body(statement)
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
            // Without this, ClickHouse sends the status code before it knows whether the query
            // succeeds.
            .append_pair("wait_end_of_query", "1")
            .append_pair("buffer_size", "8388608")
            // Lists of ids can get long.
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
        let number = self.statements.fetch_add(1, Ordering::Relaxed);
        format!("buckets-{}-{:x}-{number}", std::process::id(), self.began)
    }

    fn runtime(&self) -> Result<&Runtime, ClusterError> {
        self.runtime
            .as_ref()
            .ok_or_else(|| ClusterError::Unreachable("the connection is being closed".to_owned()))
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ClusterError>> + Send + 'static,
        limits: &Limits,
    ) -> Result<T, ClusterError> {
        let (send, receive) = sync_channel(1);
        let task = self.runtime()?.spawn(async move {
            // Fails if the search was stopped and the receiver is gone.
            let _ = send.send(work.await);
        });
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if limits.check().is_ok() => {}
                Err(RecvTimeoutError::Timeout) => {
                    task.abort();
                    return Err(ClusterError::Stopped);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ClusterError::Unreachable("the request was lost".to_owned()));
                }
            }
        }
    }

    /// Cancels a statement on the server. Otherwise, it would run there until its time limit.
    fn cancel(&self, server: &Url, name: &str) {
        let statement = format!("KILL QUERY WHERE query_id = {} ASYNC", sql::text(name));
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
        // Dropping a runtime waits for its threads. That isn't allowed everywhere, but a client can
        // be dropped anywhere.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// An insert that is still running.
pub(super) struct Pending(std::sync::mpsc::Receiver<Result<(), ClusterError>>);

impl Pending {
    pub(super) fn finish(self) -> Result<(), ClusterError> {
        self.0
            .recv()
            .unwrap_or_else(|_| Err(ClusterError::Unreachable("the request was lost".to_owned())))
    }
}

async fn answer_of(request: reqwest::RequestBuilder) -> Result<Vec<u8>, ClusterError> {
    let unreachable = |error: reqwest::Error| {
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
        ClusterError::Unreachable(text)
    };
    let answer = request.send().await.map_err(unreachable)?;
    let fine = answer.status().is_success();
    let status = answer.status();
    let body = answer.bytes().await.map_err(unreachable)?;
    if fine {
        return Ok(body.to_vec());
    }
    Err(server_error(status.as_u16(), &String::from_utf8_lossy(&body)))
}
