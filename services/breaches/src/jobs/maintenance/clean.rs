//! `accounts clean`: removes accounts without data, and secrets that older versions stored by
//! mistake as part of an address or as a website.

use std::collections::BTreeMap;

use batch::{ProgressReporter, Unit};
use database::{DatabaseError, Db, rehearse};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::load::adaptive_batch::AdaptiveBatch;
use crate::jobs::retry::RetryingConnection;
use crate::model::{OptOut, id_list, loaded_address};
use crate::store::accounts::{self, AccountRow};
use crate::store::mail_domains::FindOdd;
use crate::store::{
    Layout, account_links, admin_events, breaches, cluster, mail_domains, opt_outs, stealer_logs,
    traces, versions,
};

/// Outcome of a cleanup or its dry run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Cleaned {
    /// Accounts examined.
    pub examined: u64,
    /// Accounts removed because they had no breach, stealer log entry or paste.
    pub empty: u64,
    /// Accounts removed because they weren't valid addresses.
    pub odd: u64,
    /// How many of the `odd` accounts contained an address. Their breaches were moved to it.
    pub rescued: u64,
    /// Stored domain names removed because they weren't domains.
    pub domains: u64,
    /// Websites removed, along with their stealer log entries, because they weren't website
    /// domains.
    pub websites: u64,
}

/// Examines all accounts and fixes any that need it. With `dry_run`, nothing is changed. If
/// interrupted, it can simply be run again.
///
/// # Errors
/// Returns an error if a query fails.
pub fn clean(context: &JobContext, dry_run: bool) -> Result<Cleaned, JobError> {
    let mut connection = RetryingConnection::open(&context.pools)?;
    let progress = ProgressReporter::new("cleaning", Unit::Items("accounts"), None);
    let mut cleaned = Cleaned::default();
    let now = context.clock.unix();
    connection.transaction(lock)?;
    let mut pages = connection.read(|db| Ok(accounts::Pages::after(db, (i64::MIN, -1))?))?;
    let mut suspects = Vec::new();
    loop {
        let rows = connection.read(|db| Ok(pages.next(db)?))?;
        let is_end = rows.is_empty();
        cleaned.examined += rows.len() as u64;
        progress.add(rows.len() as u64);
        suspects.extend(rows.into_iter().filter(|row| row.breaches.is_empty() || is_odd(row)));
        while suspects.len() >= SUSPECTS || is_end && !suspects.is_empty() {
            let checked: Vec<_> = suspects.drain(..suspects.len().min(SUSPECTS)).collect();
            let wrong = wrong(&mut connection, &checked)?;
            if wrong.is_empty() {
                continue;
            }
            let before = cleaned;
            connection.transaction(|db| {
                let repaired = repair_all(db, &wrong, before, dry_run, now)?;
                // If the commit of the first attempt was not acknowledged, the next one may find
                // nothing left to fix.
                cleaned = cleaned.max(repaired);
                Ok(())
            })?;
        }
        if is_end {
            break;
        }
    }
    progress.finish();
    // Only used for its pauses, which let other writers in.
    let mut pace = AdaptiveBatch::new(context, 0, false);
    let mut names = |find: FindOdd, remove: RemoveOdd| {
        let remove = (!dry_run).then_some(remove);
        clean_names(&mut connection, &mut pace, find, remove, now)
    };
    cleaned.websites = names(stealer_logs::odd_websites, stealer_logs::remove_odd_websites)?;
    cleaned.domains = names(mail_domains::odd_domains, mail_domains::remove_all_unused)?;
    let Cleaned { empty, odd, domains, websites, .. } = cleaned;
    if !dry_run && empty + odd + domains + websites > 0 {
        let detail = format!("{empty} empty, {odd} odd, {websites} websites");
        let mut is_repeated = false;
        connection.transaction(|db| {
            let is_repeated = std::mem::replace(&mut is_repeated, true);
            log_once(db, &detail, is_repeated, now)
        })?;
    }
    if !dry_run {
        // An earlier run may have been interrupted before servers noticed its changes.
        traces::clear_log_or_warn(connection.db())?;
    }
    Ok(cleaned)
}

/// Number of accounts to check and fix together if they have no breaches or an odd address.
const SUSPECTS: usize = 1_000;

/// Returns the accounts that have an odd address or no data.
fn wrong<'a>(
    connection: &mut RetryingConnection,
    suspects: &'a [AccountRow],
) -> Result<Vec<&'a AccountRow>, JobError> {
    let empty = suspects.iter().filter(|row| row.breaches.is_empty());
    let empty: Vec<(i64, i16)> = empty.map(|row| (row.k, row.seq)).collect();
    let used = connection.read(|db| Ok(account_links::with_data(db, &empty)?))?;
    let has_data = |row: &AccountRow| !row.breaches.is_empty() || used.contains(&(row.k, row.seq));
    Ok(suspects.iter().filter(|row| is_odd(row) || !has_data(row)).collect())
}

/// Adds the cleanup to the audit log. If the transaction is repeated because a connection was lost,
/// the first attempt may have been committed.
fn log_once(db: &mut Db, detail: &str, is_repeated: bool, now: i64) -> Result<(), JobError> {
    let (action, subject) = ("accounts clean", "accounts");
    if !is_repeated || !admin_events::is_logged(db, now, action, subject, detail)? {
        admin_events::add(db, now, action, subject, detail)?;
    }
    Ok(())
}

/// Locks the accounts, and completes the transactions of failed servers. Otherwise, accounts that
/// they have not committed would be passed over, and accounts or domains would be removed although
/// such a transaction uses them.
fn lock(db: &mut Db) -> Result<(), JobError> {
    versions::lock_accounts(db)?;
    Ok(cluster::complete_all_commits(db)?)
}

/// Removes the given odd names. Returns the number removed, not counting those that another command
/// has removed.
type RemoveOdd = fn(&mut Db, &[i32]) -> Result<u64, DatabaseError>;

/// Number of names to remove per transaction.
const NAMES: usize = 1_000;
/// The same for distributed databases, where several statements per name involve all servers.
const DISTRIBUTED_NAMES: usize = 20;

/// Counts websites or domains that can't be real, and removes them if `remove` is given. Reading
/// all names can take minutes, so other writers only wait for the removals.
fn clean_names(
    connection: &mut RetryingConnection,
    pace: &mut AdaptiveBatch,
    find: FindOdd,
    remove: Option<RemoveOdd>,
    now: i64,
) -> Result<u64, JobError> {
    let size = match connection.read(|db| Ok(Layout::of(db)?))? {
        Layout::OneServer => NAMES,
        Layout::Distributed => DISTRIBUTED_NAMES,
    };
    let (mut after, mut count) = (i32::MIN, 0);
    while let Some(page) = connection.read(|db| Ok(find(db, after)?))? {
        after = page.last;
        let Some(remove) = remove else {
            count += page.ids.len() as u64;
            continue;
        };
        for ids in page.ids.chunks(size) {
            let mut removed = 0_u64;
            let attempt = |db: &mut Db| -> Result<(), JobError> {
                lock(db)?;
                versions::bump_catalogue(db, now)?;
                // As with accounts, the first attempt may have been committed.
                removed = removed.max(remove(db, ids)?);
                Ok(())
            };
            pace.run(|| connection.transaction(attempt))?;
            count += removed;
        }
    }
    Ok(count)
}

/// Returns `true` if an account isn't an address that a load would accept.
pub(super) fn is_odd(row: &AccountRow) -> bool {
    !loaded_address::is_domain(&row.domain) || loaded_address::parse(&row.address()).is_err()
}

/// Fixes accounts and updates the counts. A dry run does the same but rolls back. The catalogue
/// version changes in the same transaction, because servers must notice the changes even if the
/// process is killed right afterwards.
fn repair_all(
    db: &mut Db,
    wrong: &[&AccountRow],
    before: Cleaned,
    dry_run: bool,
    now: i64,
) -> Result<Cleaned, JobError> {
    lock(db)?;
    let work = |db: &mut Db| -> Result<Cleaned, JobError> {
        versions::bump_catalogue(db, now)?;
        let (mut cleaned, mut counts) = (before, BTreeMap::new());
        for row in wrong {
            repair(db, row, &mut cleaned, &mut counts)?;
        }
        for (breach, more) in counts {
            breaches::add_counts(db, breach, more)?;
        }
        Ok(cleaned)
    };
    if dry_run { rehearse(db, work) } else { work(db) }
}

fn repair(
    db: &mut Db,
    row: &AccountRow,
    cleaned: &mut Cleaned,
    counts: &mut BTreeMap<u16, i64>,
) -> Result<(), JobError> {
    account_links::merge_key(db, row.key())?;
    // Accounts from runs now have a row with a sequence number.
    let with_key = accounts::in_table(db, row.key())?.into_iter();
    let mut same = with_key.filter(|other| other.local == row.local && other.domain == row.domain);
    let Some(AccountRow { k, seq, breaches: list, .. }) = same.next() else { return Ok(()) };
    let place = (k, seq);
    if !is_odd(row) {
        if list.is_empty() && account_links::is_bare(db, place)? {
            cleaned.empty += 1;
            account_links::remove(db, place)?;
        }
        return Ok(());
    }
    cleaned.odd += 1;
    let address = match loaded_address::within(&row.address()) {
        Some(address) if opt_outs::get(db, &address.sha1())? != Some(OptOut::Breaches) => {
            cleaned.rescued += 1;
            Some(address)
        }
        _ => None,
    };
    account_links::remove(db, place)?;
    for breach in id_list::ids(&list) {
        let kept = match &address {
            // If a purge has already passed the address's key, it would miss a new link.
            Some(address) if breaches::takes_accounts(db, breach)? => {
                account_links::link_one(db, address, breach)?
            }
            _ => false,
        };
        *counts.entry(breach).or_default() -= i64::from(!kept);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use database::Pools;
    use diesel::prelude::*;

    use super::*;
    use crate::store::MIGRATIONS;
    use crate::store::mail_domains::OddPage;
    use crate::store::schema::{admin_event, mail_domain};

    fn context(pools: &Pools) -> JobContext {
        let clock = testkit::clock("2026-03-01T12:00:00Z").shared();
        JobContext { pools: pools.clone(), clock, settings: crate::config::Settings::for_tests() }
    }

    #[test]
    fn repeated_cleanup_is_logged_once_after_an_unacknowledged_commit() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let log = |is_repeated| {
            pools
                .write_blocking(|db| {
                    log_once(db, "1 empty, 0 odd, 0 websites", is_repeated, 7)?;
                    let logged = admin_event::table.count().get_result(db);
                    Ok::<i64, JobError>(logged.map_err(DatabaseError::from)?)
                })
                .unwrap()
        };
        // A repetition adds the entry if the first attempt was rolled back.
        assert_eq!([log(true), log(true), log(false)], [1, 1, 2]);
    }

    #[test]
    fn odd_names_are_removed_in_several_transactions() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let names: Vec<String> = (0..2 * NAMES + 1).map(|n| format!("odd domain {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let add = |db: &mut Db| mail_domains::ids(db, &names).map(drop);
        pools.write_blocking(add).unwrap();
        let cleaned = clean(&context(&pools), false).unwrap();
        assert_eq!((cleaned.domains, cleaned.websites), (names.len() as u64, 0));
        let left = |db: &mut Db| -> Result<(i64, i64), DatabaseError> {
            let left = mail_domain::table.count().get_result(db)?;
            Ok((left, versions::current(db)?.catalogue))
        };
        let (left, version) = pools.read_blocking(left).unwrap();
        assert!(left == 0 && version >= 3, "{left} left, {version} transactions");
    }

    #[test]
    fn names_that_another_command_has_removed_are_not_counted() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let add = |db: &mut Db| mail_domains::ids(db, &["odd a", "odd b", "odd c"]).map(drop);
        pools.write_blocking(add).unwrap();
        let find = |db: &mut Db, after: i32| -> Result<Option<OddPage>, DatabaseError> {
            let page = mail_domains::odd_domains(db, after)?;
            if let Some(OddPage { ids, .. }) = &page {
                mail_domains::remove_all_unused(db, &ids[..1])?;
            }
            Ok(page)
        };
        let mut connection = RetryingConnection::open(&pools).unwrap();
        let mut pace = AdaptiveBatch::new(&context(&pools), 0, false);
        let remove: RemoveOdd = mail_domains::remove_all_unused;
        let removed = clean_names(&mut connection, &mut pace, find, Some(remove), 1);
        assert_eq!(removed.unwrap(), 2);
    }
}
