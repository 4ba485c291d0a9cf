//! `accounts clean`: removes accounts without data, and secrets that older versions stored by
//! mistake as part of an address or as a website.

use std::collections::BTreeMap;

use batch::{ProgressReporter, Unit};
use database::{Db, rehearse};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::retry::RetryingConnection;
use crate::model::{OptOut, id_list, loaded_address};
use crate::store::accounts::{self, AccountRow};
use crate::store::{
    account_links, admin_events, breaches, cluster, mail_domains, opt_outs, stealer_logs, traces,
    versions,
};

/// Outcome of a cleanup or its dry run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
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
    loop {
        let rows = connection.read(|db| Ok(pages.next(db)?))?;
        if rows.is_empty() {
            break;
        }
        cleaned.examined += rows.len() as u64;
        progress.add(rows.len() as u64);
        let empty = rows.iter().filter(|row| row.breaches.is_empty());
        let empty: Vec<(i64, i16)> = empty.map(|row| (row.k, row.seq)).collect();
        let used = connection.read(|db| Ok(account_links::with_data(db, &empty)?))?;
        let is_wrong = |row: &&AccountRow| {
            is_odd(row) || row.breaches.is_empty() && !used.contains(&(row.k, row.seq))
        };
        let wrong: Vec<&AccountRow> = rows.iter().filter(is_wrong).collect();
        if wrong.is_empty() {
            continue;
        }
        cleaned = connection.transaction(|db| repair_all(db, &wrong, cleaned, dry_run, now))?;
    }
    progress.finish();
    (cleaned.websites, cleaned.domains) = connection.read(|db| clean_names(db, false))?;
    let Cleaned { empty, odd, domains, websites, .. } = cleaned;
    if !dry_run && empty + odd + domains + websites > 0 {
        connection.transaction(|db| {
            lock(db)?;
            if domains + websites > 0 {
                (cleaned.websites, cleaned.domains) = clean_names(db, true)?;
            }
            versions::bump_catalogue(db, now)?;
            let detail = format!("{empty} empty, {odd} odd, {} websites", cleaned.websites);
            admin_events::add(db, now, "accounts clean", "accounts", &detail)?;
            Ok(())
        })?;
    }
    if !dry_run {
        // An earlier run may have been interrupted before servers noticed its changes.
        traces::clear_log_or_warn(connection.db())?;
    }
    Ok(cleaned)
}

/// Locks the accounts, and completes the transactions of failed servers. Otherwise, accounts that
/// they have not committed would be passed over, and accounts or domains would be removed although
/// such a transaction uses them.
fn lock(db: &mut Db) -> Result<(), JobError> {
    versions::lock_accounts(db)?;
    Ok(cluster::complete_all_commits(db)?)
}

/// Counts websites and domains that can't be real, and removes them if `remove` is set. Reading all
/// names can take minutes, so other writers shouldn't have to wait for it unless there are any.
fn clean_names(db: &mut Db, remove: bool) -> Result<(u64, u64), JobError> {
    Ok((stealer_logs::each_odd_website(db, remove)?, mail_domains::each_odd(db, remove)?))
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
