//! The write lock: a table that only one process can create.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::Url;
use tokio::task::AbortHandle;

use super::client::Client;
use super::error::ClusterError;
use super::rows::Rows;
use super::sql;

/// A lease that was not renewed for so long has expired.
const LAPSES_SECONDS: u64 = 30;
const RENEWAL: Duration = Duration::from_secs(5);

/// A write lock that is renewed until it is dropped.
pub(super) struct Lease {
    client: Arc<Client>,
    server: Url,
    table: String,
    token: String,
    renewal: AbortHandle,
}

impl Lease {
    /// Takes the lease of this name, or says who has it.
    pub(super) fn take(
        client: &Arc<Client>,
        name: &str,
        holder: &str,
    ) -> Result<Self, ClusterError> {
        let server = client.target.base.clone();
        let table = format!("{}.buckets_{name}", client.target.database);
        let make = format!(
            "CREATE TABLE {table} (token String, holder String, at DateTime) ENGINE = Memory"
        );
        if let Err(error) = client.execute(&server, &make) {
            if !error.is_existing_table() {
                return Err(error);
            }
            if let Some(holder) = living_holder(client, &server, &table)? {
                return Err(ClusterError::Locked(holder));
            }
            client.execute(&server, &format!("DROP TABLE IF EXISTS {table}"))?;
            client.execute(&server, &make).map_err(|error| match error.is_existing_table() {
                true => ClusterError::Locked("another command was faster".to_owned()),
                false => error,
            })?;
        }
        let token = token();
        let renew = format!(
            "INSERT INTO {table} SELECT {}, {}, now()",
            sql::text(&token),
            sql::text(&format!("{}\n{holder}", process()))
        );
        client.execute(&server, &renew)?;
        let requests = Arc::downgrade(client);
        let at = server.clone();
        let renewal = client.spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                let Some(request) =
                    requests.upgrade().map(|client| client.prepared(&at, renew.clone()))
                else {
                    return;
                };
                if let Err(error) = request.send().await {
                    log::warn!("the right to write could not be renewed: {}", error.without_url());
                }
            }
        })?;
        Ok(Self { client: Arc::clone(client), server, table, token, renewal })
    }

    /// Fails when another process has taken the lease meanwhile.
    pub(super) fn check(&self) -> Result<(), ClusterError> {
        let lost = || ClusterError::Locked("another command took the right to write".to_owned());
        let statement = format!(
            "SELECT count(), countIf(token = {}) FROM {} FORMAT RowBinary",
            sql::text(&self.token),
            self.table
        );
        let answer = match self.client.execute(&self.server, &statement) {
            Err(error) if error.is_missing_table() => return Err(lost()),
            answer => answer?,
        };
        let mut rows = Rows::of(&answer);
        let (all, own) = (rows.u64()?, rows.u64()?);
        // A server that was started anew has forgotten the rows, not the table.
        if own == all { Ok(()) } else { Err(lost()) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        let given_back = self.check().and_then(|()| {
            self.client.execute(&self.server, &format!("DROP TABLE IF EXISTS {}", self.table))
        });
        if let Err(error) = given_back {
            log::warn!("the right to write could not be given back: {error}");
        }
    }
}

/// Who has the lease; `None` when that process is dead or was silent for too long.
fn living_holder(
    client: &Client,
    server: &Url,
    table: &str,
) -> Result<Option<String>, ClusterError> {
    let mut state = state(client, server, table)?;
    if state.as_ref().is_some_and(|state| state.renewals == 0) {
        // Its maker has not yet written its name, or died before it could.
        std::thread::sleep(RENEWAL + Duration::from_secs(1));
        state = self::state(client, server, table)?;
    }
    let living = state.filter(|state| {
        state.renewals > 0 && state.age <= LAPSES_SECONDS && !is_dead(&state.process)
    });
    Ok(living.map(|state| state.holder))
}

/// The state of a lease.
struct State {
    /// Seconds since the last renewal.
    age: u64,
    process: String,
    holder: String,
    renewals: u64,
}

/// `None`: it was given back just now.
fn state(client: &Client, server: &Url, table: &str) -> Result<Option<State>, ClusterError> {
    let statement = format!(
        "SELECT toUInt64(now() - max(at)), argMax(holder, at), count() FROM {table} FORMAT RowBinary"
    );
    let answer = match client.execute(server, &statement) {
        Err(error) if error.is_missing_table() => return Ok(None),
        answer => answer?,
    };
    let mut rows = Rows::of(&answer);
    let (age, text, renewals) = (rows.u64()?, rows.text()?, rows.u64()?);
    let (process, holder) = text.split_once('\n').unwrap_or(("", &text));
    let (process, holder) = (process.to_owned(), holder.to_owned());
    Ok(Some(State { age, process, holder, renewals }))
}

/// This process and its machine.
fn process() -> String {
    format!("{}@{}", std::process::id(), machine())
}

/// Whether a process of this very machine has ended.
fn is_dead(process: &str) -> bool {
    let Some((id, machine_of_holder)) = process.split_once('@') else {
        return false;
    };
    let own = machine();
    Path::new("/proc/self").exists()
        && !own.is_empty()
        && own == machine_of_holder
        && !Path::new("/proc").join(id).exists()
}

/// Name and boot of this machine; containers on one machine differ in their names.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let name = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    if name.is_empty() || boot.is_empty() { String::new() } else { format!("{name}/{boot}") }
}

fn token() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    static TAKEN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = TAKEN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}-{}-{number}", process(), since.as_nanos())
}
