//! Completes SQLite's by-domain index after loads that postponed its entries; see
//! [`unfiled_accounts`].
//!
//! The entries are sorted on disk and then added in the order of the index, so that each page is
//! written once. Transactions are short, and other processes can change accounts meanwhile.

use std::thread;
use std::time::Duration;

use batch::{ProgressReporter, Sorted, Unit};
use database::{Backend, DatabaseError, Db};

use super::purge;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job;
use crate::jobs::load::adaptive_batch::AdaptiveBatch;
use crate::jobs::retry::RetryingConnection;
use crate::store::domain_accounts::{self, DomainAccount};
use crate::store::jobs::{self, Counts};
use crate::store::{domain_controls, load_connections, traces, unfiled_accounts};

/// Kind of the jobs that complete the index.
pub const KIND: &str = "index";

/// A load postpones its entries if it takes more than this number of its largest transactions.
/// For smaller loads, rewriting the index costs less than reading all accounts again.
const TRANSACTIONS: usize = 32;
/// Number of entries per transaction for each MiB of `LOAD_MEMORY_MB`.
const PER_MIB: usize = 4_096;
/// A job without a heartbeat for this many seconds is no longer running.
const SILENT: i64 = jobs::SILENT_SECONDS;
/// A server waits this many seconds for an interrupted load to be resumed, and before it retries a
/// failed job. If it started earlier, the resumed load would have to discard its work.
const GRACE: i64 = 600;
/// Time between checks while another process completes the index.
const POLL: Duration = Duration::from_secs(1);

/// Returns whether a load is large enough to postpone its entries. `left` is the number of accounts
/// it has yet to add, and `largest` the number in its largest transaction.
pub fn is_large(left: i64, largest: usize) -> bool {
    left > i64::try_from(largest.saturating_mul(TRANSACTIONS)).unwrap_or(i64::MAX)
}

/// Makes a large load postpone its entries. Call this in the transaction of the load's first batch.
/// If the load stops before that, the index stays complete and isn't built again.
///
/// Domains with addresses must remain searchable, so nothing is postponed if any is verified.
pub fn postpone(db: &mut Db, now: i64) -> Result<(), DatabaseError> {
    if db.backend() == Backend::Postgres
        || unfiled_accounts::is_postponed(db)?
        || domain_controls::any_with_addresses(db)?
    {
        return Ok(());
    }
    if let Some(other) = jobs::unfinished(db, KIND, "", "")? {
        jobs::cancel(db, other.id, now)?;
    }
    log::info!("accounts are indexed by domain after the load; domain searches fail until then");
    unfiled_accounts::postpone(db)
}

/// Completes the index at the end of a load. Waits if another process is doing it.
///
/// Returns `false` if another load is running, which will complete the index when it ends.
pub fn index_domains(context: &JobContext) -> Result<bool, JobError> {
    let mut waits = false;
    loop {
        match begin(context, SILENT, 0)? {
            Begun::Complete => return Ok(true),
            Begun::Loading => return Ok(false),
            Begun::Elsewhere => {
                if !std::mem::replace(&mut waits, true) {
                    log::info!("waiting for another process that is indexing accounts by domain");
                }
                thread::sleep(POLL);
            }
            Begun::Build(build) => match build.run(context) {
                // Another process has taken over, or a load has begun.
                Err(JobError::Cancelled | JobError::DoneElsewhere) => {}
                done => return done.map(|()| true),
            },
        }
    }
}

/// Completes the index in a server if the processes that should have done it have ended. Returns
/// `false` if there's nothing to do.
pub fn resume_index(context: &JobContext) -> Result<bool, JobError> {
    let Begun::Build(build) = begin(context, GRACE, GRACE)? else { return Ok(false) };
    match build.run(context) {
        Err(JobError::Cancelled | JobError::DoneElsewhere) => Ok(false),
        done => done.map(|()| true),
    }
}

/// State of the index, or the job that completes it.
enum Begun {
    /// The index is complete.
    Complete,
    /// A load is running, which will complete it.
    Loading,
    /// Another process is completing it, or failed to do so a short time ago.
    Elsewhere,
    /// This process completes it.
    Build(Build),
}

/// Begins or restarts the job, unless there was a heartbeat of a load in the last `silent` seconds
/// or the job failed in the last `failed` seconds.
fn begin(context: &JobContext, silent: i64, failed: i64) -> Result<Begun, JobError> {
    let is_sqlite = context.pools.backend() == Backend::Sqlite;
    if !is_sqlite || !context.pools.read_blocking(is_unfinished)? {
        return Ok(Begun::Complete);
    }
    let now = context.clock.unix();
    context.write(|db| {
        if !is_unfinished(db)? {
            return Ok(Begun::Complete);
        }
        if jobs::accounts_load_runs(db, now - silent)? {
            return Ok(Begun::Loading);
        }
        let job = match jobs::unfinished(db, KIND, "", "")? {
            Some(other) => {
                let quiet = if other.state == "running" { SILENT } else { failed };
                if other.updated_at > now - quiet {
                    return Ok(Begun::Elsewhere);
                }
                jobs::restart(db, other.id, now)?;
                other.id
            }
            None => jobs::begin(db, KIND, "", "", now)?,
        };
        let token = match unfiled_accounts::any(db)? {
            true => Some(unfiled_accounts::begin(db)?),
            false => None,
        };
        Ok(Begun::Build(Build { job, token }))
    })
}

/// Returns whether the index is incomplete, or its job has yet to remove unused domains.
fn is_unfinished(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(unfiled_accounts::any(db)? || jobs::unfinished(db, KIND, "", "")?.is_some())
}

/// A job that completes the index.
struct Build {
    /// Job id.
    job: i64,
    /// `None` if the index is complete, and only unused domains are left to remove.
    token: Option<i64>,
}

impl Build {
    fn run(&self, context: &JobContext) -> Result<(), JobError> {
        job::noted(context, self.job, |heartbeat| {
            let mut connection = RetryingConnection::open(&context.pools)?;
            if self.token.is_some() {
                self.complete(context, &mut connection, heartbeat)?;
            }
            // Removals have kept all domains since the load began. The job is finished afterwards,
            // so that this is repeated after a kill.
            purge::remove_unused_domains(context, &mut connection)?;
            let now = context.clock.unix();
            connection.transaction(|db| {
                let is_open = jobs::finish(db, self.job, now)?;
                job::expect_open(db, self.job, is_open)
            })?;
            Ok(traces::clear_log_or_warn(connection.db())?)
        })
    }

    /// Adds all missing entries.
    fn complete(
        &self,
        context: &JobContext,
        connection: &mut RetryingConnection,
        heartbeat: &Heartbeat,
    ) -> Result<(), JobError> {
        // The sorter takes most of the memory. Pages are written in order, so a few are enough.
        let cache = (context.settings.load_memory_mb * 1_024 / 10 * 2).max(2_048);
        load_connections::set_cache(connection.db(), cache)?;
        let (sorted, total) = sort(context, connection.db(), heartbeat)?;
        self.add_entries(context, connection, sorted, total)?;
        self.commit(context, connection, 0, unfiled_accounts::stop_recording)?;
        while self.commit(context, connection, 0, unfiled_accounts::remove_stale)? {}
        let read = i64::try_from(total).unwrap_or(i64::MAX);
        self.commit(context, connection, 0, |db| {
            unfiled_accounts::finish(db)?;
            jobs::set_input(db, self.job, Counts { read, accepted: read, skipped: 0 }, "[]")
        })
    }

    /// Adds sorted entries batch by batch.
    fn add_entries(
        &self,
        context: &JobContext,
        connection: &mut RetryingConnection,
        mut sorted: Sorted,
        total: u64,
    ) -> Result<(), JobError> {
        let unreadable = || JobError::file("a temporary file");
        let mut batch_size = AdaptiveBatch::new(context, PER_MIB, false);
        let progress =
            ProgressReporter::new("indexing by domain", Unit::Items("accounts"), Some(total));
        let mut entries: Vec<DomainAccount> = Vec::new();
        loop {
            let next = sorted.next_record().map_err(unreadable())?;
            let is_last = next.is_none();
            if let Some((key, text)) = next {
                let damaged = || DatabaseError::broken("a temporary file is damaged");
                entries.push(unpacked(key, text).ok_or_else(damaged)?);
            }
            if entries.len() >= batch_size.records() || (is_last && !entries.is_empty()) {
                let added = entries.len();
                batch_size.run(|| {
                    self.commit(context, connection, added, |db| {
                        domain_accounts::add(db, &mut entries)
                    })
                })?;
                progress.add(added as u64);
                entries.clear();
            }
            if is_last {
                break;
            }
        }
        progress.finish();
        Ok(())
    }

    /// Runs a transaction that adds this number of entries.
    ///
    /// # Errors
    /// Fails with [`JobError::Cancelled`] or [`JobError::DoneElsewhere`] if the job has to stop.
    fn commit<T>(
        &self,
        context: &JobContext,
        connection: &mut RetryingConnection,
        added: usize,
        mut work: impl FnMut(&mut Db) -> Result<T, DatabaseError>,
    ) -> Result<T, JobError> {
        let now = context.clock.unix();
        let added = i64::try_from(added).unwrap_or(i64::MAX);
        connection.transaction(|db| {
            let is_open = jobs::count(db, self.job, added, now)?;
            job::expect_open(db, self.job, is_open)?;
            match self.token {
                Some(token) if unfiled_accounts::is_current(db, token)? => Ok(work(db)?),
                _ => Err(JobError::DoneElsewhere),
            }
        })
    }
}

/// Reads all accounts and sorts their entries. Also returns the number of accounts.
///
/// This doesn't need a snapshot: accounts added in the meantime have entries, and removals are
/// recorded.
fn sort(
    context: &JobContext,
    db: &mut Db,
    heartbeat: &Heartbeat,
) -> Result<(Sorted, u64), JobError> {
    let mut sorter = job::sorter(context);
    let progress = ProgressReporter::new("sorting by domain", Unit::Items("accounts"), None);
    let (mut last, mut read) = ((i64::MIN, -1), 0);
    loop {
        let page = unfiled_accounts::page(db, last)?;
        let Some(entry) = page.last() else { break };
        last = (entry.k, entry.seq);
        for entry in &page {
            let (key, text) = packed(entry);
            sorter.push(key, &text).map_err(job::sorting_error(context))?;
        }
        read += page.len() as i64;
        heartbeat.set(Counts { read, accepted: read, skipped: 0 });
        progress.add(page.len() as u64);
    }
    let total = progress.progress().done;
    progress.finish();
    Ok((sorter.finish().map_err(job::sorting_error(context))?, total))
}

/// Packs an entry for sorting: the domain and the upper half of the account key, then the rest.
fn packed(entry: &DomainAccount) -> (i64, [u8; 6]) {
    let k = entry.k.cast_unsigned() ^ 1 << 63;
    let key = i64::from(entry.domain_id) << 32 | (k >> 32).cast_signed();
    let [_, _, _, _, a, b, c, d] = k.to_be_bytes();
    let [e, f] = entry.seq.to_be_bytes();
    (key, [a, b, c, d, e, f])
}

fn unpacked(key: i64, text: &[u8]) -> Option<DomainAccount> {
    let [a, b, c, d, e, f] = *text.first_chunk::<6>()?;
    let domain_id = i32::try_from(key >> 32).ok()?;
    let k = key.cast_unsigned() << 32 | u64::from(u32::from_be_bytes([a, b, c, d]));
    let k = (k ^ 1 << 63).cast_signed();
    Some(DomainAccount { domain_id, k, seq: i16::from_be_bytes([e, f]) })
}

#[cfg(test)]
mod tests {
    use domain::EmailAddress;
    use testkit::Database;

    use super::*;
    use crate::config::Settings;
    use crate::store::subscribers;

    fn context(database: &Database) -> JobContext {
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let clock = testkit::clock("2026-03-01T12:00:00Z").shared();
        JobContext { pools, clock, settings: Settings::for_tests() }
    }

    /// Verifies a domain with this number of addresses.
    fn verify(db: &mut Db, domain: &str, size: i64) -> Result<(), DatabaseError> {
        let email = EmailAddress::parse(&format!("owner@{domain}")).unwrap();
        let new = domain_controls::Verification {
            subscriber: subscribers::add(db, &email, 1)?,
            domain,
            code: "code",
            method: "operator",
            parent: None,
            sizes: Some((size, 0)),
            now: 1,
        };
        domain_controls::verify(db, &new).map(drop)
    }

    #[test]
    fn large_load_postpones_its_entries_unless_a_verified_domain_has_addresses() {
        let database = Database::in_file();
        let context = context(&database);
        let is_postponed = || context.pools.read_blocking(unfiled_accounts::is_postponed).unwrap();
        let postpone = || context.pools.write_blocking(|db| postpone(db, 1)).unwrap();
        assert!(!is_large(320, 10) && is_large(321, 10), "32 transactions are few");
        context.pools.write_blocking(|db| verify(db, "empty.example", 0)).unwrap();
        context.pools.write_blocking(|db| verify(db, "used.example", 1)).unwrap();
        postpone();
        assert!(!is_postponed(), "used.example is searched");
        context
            .pools
            .write_blocking(|db| {
                let email = EmailAddress::parse("owner@used.example").unwrap();
                let owner = subscribers::id(db, &email)?.unwrap();
                crate::store::domain_inheritance::revoke(db, owner, "used.example")
            })
            .unwrap();
        postpone();
        assert!(is_postponed());
    }

    #[test]
    fn large_load_stops_a_running_index_job() {
        let database = Database::in_file();
        let context = context(&database);
        let Begun::Complete = begin(&context, SILENT, 0).unwrap() else { panic!("incomplete") };
        context.pools.write_blocking(unfiled_accounts::postpone).unwrap();
        let Begun::Build(build) = begin(&context, SILENT, 0).unwrap() else { panic!("no job") };
        let Begun::Elsewhere = begin(&context, SILENT, 0).unwrap() else { panic!("two jobs") };
        context.pools.write_blocking(|db| postpone(db, 1)).unwrap();
        assert!(matches!(build.run(&context), Err(JobError::Cancelled)));
        assert!(context.pools.read_blocking(unfiled_accounts::is_postponed).unwrap());
        assert!(index_domains(&context).unwrap());
        let jobs = context.pools.read_blocking(jobs::all).unwrap();
        let states: Vec<&str> = jobs.iter().map(|job| job.state.as_str()).collect();
        assert_eq!(states, ["done", "cancelled"]);
    }

    #[test]
    fn job_that_another_process_took_over_stops() {
        let database = Database::in_file();
        let context = context(&database);
        context.pools.write_blocking(unfiled_accounts::postpone).unwrap();
        let Begun::Build(first) = begin(&context, SILENT, 0).unwrap() else { panic!("no job") };
        let clock = testkit::clock("2026-03-01T12:00:30Z").shared();
        let later = JobContext { clock, ..context.clone() };
        let Begun::Build(second) = begin(&later, SILENT, 0).unwrap() else { panic!("no job") };
        assert_eq!(first.job, second.job);
        assert!(matches!(first.run(&context), Err(JobError::DoneElsewhere)));
        second.run(&later).unwrap();
        assert!(!context.pools.read_blocking(unfiled_accounts::any).unwrap());
    }

    #[test]
    fn unused_domains_are_removed_if_the_process_was_killed_after_the_index() {
        let database = Database::in_file();
        let context = context(&database);
        let job = context
            .pools
            .write_blocking(|db| {
                let job = jobs::begin(db, KIND, "", "", 1)?;
                crate::store::mail_domains::ids(db, &["unused.example"])?;
                Ok::<_, DatabaseError>(job)
            })
            .unwrap();
        assert!(index_domains(&context).unwrap());
        let left = |db: &mut Db| crate::store::mail_domains::page(db, 0);
        assert_eq!(context.pools.read_blocking(left).unwrap(), []);
        let ended = context.pools.read_blocking(|db| jobs::get(db, job)).unwrap();
        assert_eq!(ended.state, "done");
    }

    #[test]
    fn packed_entries_have_the_order_of_the_index_and_are_unpacked_unchanged() {
        let mut entries = Vec::new();
        for domain_id in [1, 2, i32::MAX] {
            for k in [i64::MIN, -1 << 32, -1, 0, 1, 1 << 32, i64::MAX] {
                entries.extend([0, 1].map(|seq| DomainAccount { domain_id, k, seq }));
            }
        }
        assert!(entries.is_sorted());
        assert!(entries.iter().map(packed).is_sorted());
        for entry in entries {
            let (key, text) = packed(&entry);
            assert_eq!(unpacked(key, &text), Some(entry));
        }
        assert_eq!(unpacked(0, &[0; 5]), None);
    }
}
