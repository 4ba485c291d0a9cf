//! The cluster's write lock. Each candidate creates its own table, and only one table can remain.
//!
//! A candidate creates a table with a unique name and then looks for other tables for the same
//! lock. If two candidates do this at once, at least one of them sees the other, so they can't both
//! get the lock. Tables left by dead processes are dropped by their unique names, so we can't drop
//! a live process's table by mistake.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use reqwest::Url;
use tokio::task::AbortHandle;

use super::client::Client;
use super::error::ClusterError;
use super::rows::Rows;
use super::sql;

/// Number of seconds without renewal after which a lease expires.
const LAPSES_SECONDS: u64 = 30;
const RENEWAL: Duration = Duration::from_secs(5);
/// A table that stays empty for this long was probably left by a process that died before writing
/// its row. After a server restart, lock tables are empty too, until the next renewal adds a row
/// again.
const NAMELESS: Duration = Duration::from_secs(6);
/// Separates the lock's name from the unique part. [`GRAVE`] replaces it after a takeover.
const BY: &str = "_by_";
const GRAVE: &str = "_was_by_";
/// Time to compete with other candidates before giving up.
const RIVALRY_TIMEOUT: Duration = Duration::from_secs(12);

/// A lock that is renewed in the background until it is dropped.
pub(super) struct Lease {
    table: Table,
    renew: String,
    renewal: AbortHandle,
}

/// This process's lock table. Dropping the value drops the table.
struct Table {
    client: Arc<Client>,
    server: Url,
    name: String,
}

/// Other processes' tables for the same lock.
enum Rivals {
    /// There are no tables, or only tables of dead processes.
    Dead(Vec<String>),
    /// Another process with this description has the lock.
    Holder(String),
    /// There's a table without a description, created by another candidate or left by a dead
    /// process.
    Nameless,
}

impl Lease {
    /// Takes the lease, or returns an error with the description of the process that has it.
    pub(super) fn take(
        client: &Arc<Client>,
        name: &str,
        holder: &str,
    ) -> Result<Self, ClusterError> {
        let (started, mut seen) = (Instant::now(), HashMap::new());
        loop {
            let table = Table::make(client, name)?;
            match rivals(&table, name, &mut seen)? {
                Rivals::Dead(tables) => {
                    for dead in &tables {
                        table.take_over(dead)?;
                    }
                    return Self::hold(table, holder);
                }
                Rivals::Holder(holder) => return Err(ClusterError::Locked(holder)),
                Rivals::Nameless if started.elapsed() > RIVALRY_TIMEOUT => {
                    return Err(ClusterError::Locked(
                        "other commands are competing for the write lock".to_owned(),
                    ));
                }
                Rivals::Nameless => {}
            }
            // Both candidates withdraw, and the first one to try again gets the lock.
            drop(table);
            std::thread::sleep(Duration::from_millis(20 + random() % 400));
        }
    }

    fn hold(table: Table, holder: &str) -> Result<Self, ClusterError> {
        let holder = format!("{}\n{holder}", process());
        let renew = format!("INSERT INTO {} SELECT {}, now()", table.name, sql::text(&holder));
        table.renewed(&renew)?;
        let requests = Arc::downgrade(&table.client);
        let (at, statement) = (table.server.clone(), renew.clone());
        let renewal = table.client.spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                let Some(request) =
                    requests.upgrade().map(|client| client.prepared(&at, statement.clone()))
                else {
                    return;
                };
                if let Err(error) = request.send().await {
                    log::warn!("the write lock could not be renewed: {}", error.without_url());
                }
            }
        })?;
        Ok(Self { table, renew, renewal })
    }

    /// Renews the lease for its full duration. Returns an error if another process has taken it
    /// over.
    pub(super) fn check(&self) -> Result<(), ClusterError> {
        self.table.renewed(&self.renew)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

impl Table {
    fn make(client: &Arc<Client>, lock: &str) -> Result<Self, ClusterError> {
        let server = client.target.base.clone();
        let name = format!("{}.buckets_{lock}{BY}{}", client.target.database, unique());
        let make = format!("CREATE TABLE {name} (holder String, at DateTime) ENGINE = Memory");
        client.execute(&server, &make)?;
        Ok(Self { client: Arc::clone(client), server, name })
    }

    fn renewed(&self, renew: &str) -> Result<(), ClusterError> {
        match self.client.execute(&self.server, renew) {
            Err(error) if error.is_missing_table() => {
                Err(ClusterError::Locked("another command took over the write lock".to_owned()))
            }
            renewed => renewed.map(drop),
        }
    }

    /// Drops a table whose process appears to be dead. Renames the table first, which is atomic and
    /// keeps the process from renewing its lease. If it turns out that the process renewed just
    /// before the rename, the takeover is undone.
    fn take_over(&self, table: &str) -> Result<(), ClusterError> {
        let Some((lock, end)) = table.rsplit_once(BY) else { return Ok(()) };
        let grave = format!("{lock}{GRAVE}{end}");
        let rename = |from: &str, to: &str| {
            self.client.execute(&self.server, &format!("RENAME TABLE {from} TO {to}"))
        };
        match rename(table, &grave) {
            Err(error) if error.is_missing_table() => return Ok(()),
            renamed => renamed?,
        };
        let state = state(&self.client, &self.server, &grave)?;
        if let Some(living) = state.filter(State::is_living) {
            rename(&grave, table)?;
            return Err(ClusterError::Locked(living.holder));
        }
        self.drop_named(&grave)
    }

    fn drop_named(&self, name: &str) -> Result<(), ClusterError> {
        let statement = format!("DROP TABLE IF EXISTS {name}");
        self.client.execute(&self.server, &statement).map(drop)
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if let Err(error) = self.drop_named(&self.name) {
            log::warn!("the write lock could not be released: {error}");
        }
    }
}

/// Returns the name of the lock for writing to a generation.
pub(super) fn of_generation(generation: u32) -> String {
    format!("writer_{generation}")
}

/// Drops all tables for a lock that is no longer used.
pub(super) fn forget(client: &Client, lock: &str) -> Result<(), ClusterError> {
    let server = &client.target.base;
    for which in [BY, GRAVE] {
        for table in tables(client, server, lock, which)? {
            client.execute(server, &format!("DROP TABLE IF EXISTS {table}"))?;
        }
    }
    Ok(())
}

/// Lists a lock's tables, qualified with the database. `which` selects either current tables or
/// tables that have been taken over.
fn tables(
    client: &Client,
    server: &Url,
    lock: &str,
    which: &str,
) -> Result<Vec<String>, ClusterError> {
    let names = client.table_names(server, &format!("buckets_{lock}{which}"))?;
    let database = &client.target.database;
    Ok(names.into_iter().map(|name| format!("{database}.{name}")).collect())
}

/// Looks for other tables. `seen` remembers when we first saw each empty table.
fn rivals(
    own: &Table,
    lock: &str,
    seen: &mut HashMap<String, Instant>,
) -> Result<Rivals, ClusterError> {
    let mut dead = Vec::new();
    let mut nameless = false;
    for left in tables(&own.client, &own.server, lock, GRAVE)? {
        own.drop_named(&left)?;
    }
    for table in tables(&own.client, &own.server, lock, BY)? {
        if table == own.name {
            continue;
        }
        match state(&own.client, &own.server, &table)? {
            None => {}
            Some(state) if state.renewals == 0 => {
                let since = seen.entry(table.clone()).or_insert_with(Instant::now);
                if since.elapsed() < NAMELESS {
                    nameless = true;
                } else {
                    dead.push(table);
                }
            }
            Some(state) if state.is_living() => return Ok(Rivals::Holder(state.holder)),
            Some(_) => dead.push(table),
        }
    }
    Ok(if nameless { Rivals::Nameless } else { Rivals::Dead(dead) })
}

/// Contents of a lock table.
struct State {
    /// Seconds since the last renewal.
    age: u64,
    process: String,
    holder: String,
    renewals: u64,
}

impl State {
    /// Returns `true` if the table's process might still be writing.
    fn is_living(&self) -> bool {
        self.renewals > 0 && self.age <= LAPSES_SECONDS && !is_dead(&self.process)
    }
}

/// Reads a lock table. Returns `None` if it has just been released.
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

/// Returns an identifier for this process and machine.
fn process() -> String {
    format!("{}@{}", std::process::id(), machine())
}

/// Returns `true` if a process ran on this machine and has exited.
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

/// Returns the machine's hostname and boot id, and the namespace of process ids. Containers on one
/// machine share the boot id. In a pod, or on the host's network, they also share the hostname.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let name = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let namespace = namespace.to_string_lossy();
    if name.is_empty() || boot.is_empty() || namespace.is_empty() {
        return String::new();
    }
    format!("{name}/{boot}/{namespace}")
}

/// Returns a unique suffix for table names.
fn unique() -> String {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let number = TAKEN.fetch_add(1, Ordering::Relaxed);
    format!("{:x}_{:x}_{number:x}_{:x}", since.as_nanos(), std::process::id(), random())
}

fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_only_known_to_be_dead_in_their_own_namespace() {
        let own = machine();
        if own.is_empty() {
            return;
        }
        let (host, namespace) = own.rsplit_once('/').unwrap();
        assert!(namespace.starts_with("pid:["), "{own}");
        assert!(!is_dead(&process()));
        assert!(is_dead(&format!("{}@{own}", u32::MAX)));
        assert!(!is_dead(&format!("{}@{host}/pid:[1]", u32::MAX)));
    }
}
