//! `accounts clean`: puts right what older versions stored: secrets that passed for a part of an
//! address or for a website, and people of whom nothing but the address is left.

use std::collections::BTreeMap;

use batch::{ProgressReporter, Unit};
use database::{DatabaseError, Db, transaction};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::retry::RetryingConnection;
use crate::model::{OptOut, id_list, loaded_address};
use crate::store::accounts::{self, AccountRow};
use crate::store::{
    account_links, admin_events, breaches, mail_domains, opt_outs, stealer_logs, versions,
};

/// What was put right, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Cleaned {
    /// Accounts that were looked at.
    pub examined: u64,
    /// Accounts without a breach, a stealer log or a paste, which are removed.
    pub empty: u64,
    /// Accounts whose text is no address, which are removed.
    pub odd: u64,
    /// Of these, accounts in whose text an address was found; it has their breaches now.
    pub rescued: u64,
    /// Domains that were none, which are removed.
    pub domains: u64,
    /// Websites of stealer logs that were none, which are removed with their pairs.
    pub websites: u64,
}

/// Looks at every account and puts right what is wrong; changes nothing with `dry_run`. Running it
/// again, also after it was interrupted, does what is left.
///
/// # Errors
/// Those of the database.
pub fn clean(context: &JobContext, dry_run: bool) -> Result<Cleaned, JobError> {
    let mut connection = RetryingConnection::open(&context.pools)?;
    let progress = ProgressReporter::new("cleaning", Unit::Items("accounts"), None);
    let (mut cleaned, mut after) = (Cleaned::default(), (i64::MIN, -1));
    loop {
        let rows = accounts::page(connection.db(), after)?;
        let Some(last) = rows.last() else { break };
        after = (last.k, i16::MAX);
        cleaned.examined += rows.len() as u64;
        progress.add(rows.len() as u64);
        let wrong: Vec<&AccountRow> = rows.iter().filter(|row| may_be_wrong(row)).collect();
        if wrong.is_empty() {
            continue;
        }
        cleaned = connection.transaction(|db| put_all_right(db, &wrong, cleaned, dry_run))?;
    }
    progress.finish();
    let now = context.clock.unix();
    connection.transaction(|db| {
        versions::lock_accounts(db)?;
        cleaned.websites = stealer_logs::each_odd_website(db, !dry_run)?;
        cleaned.domains = mail_domains::each_odd(db, !dry_run)?;
        let Cleaned { empty, odd, domains, websites, .. } = cleaned;
        if !dry_run && empty + odd + domains + websites > 0 {
            versions::bump_catalogue(db, now)?;
            let detail = format!("{empty} empty, {odd} odd, {websites} websites");
            admin_events::add(db, now, "accounts clean", "accounts", &detail)?;
        }
        Ok(())
    })?;
    Ok(cleaned)
}

fn may_be_wrong(row: &AccountRow) -> bool {
    row.breaches.is_empty() || is_odd(row)
}

fn is_odd(row: &AccountRow) -> bool {
    !loaded_address::is_domain(&row.domain) || loaded_address::parse(&row.address()).is_err()
}

/// Why what was done is rolled back.
enum Stop {
    DryRun(Cleaned),
    Failed(JobError),
}

impl From<DatabaseError> for Stop {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error.into())
    }
}

/// Puts accounts right, and counts them beside those before; a dry run takes back what it did.
fn put_all_right(
    db: &mut Db,
    wrong: &[&AccountRow],
    before: Cleaned,
    dry_run: bool,
) -> Result<Cleaned, JobError> {
    versions::lock_accounts(db)?;
    let done = transaction(db, |db| -> Result<Cleaned, Stop> {
        let (mut cleaned, mut counts) = (before, BTreeMap::new());
        for row in wrong {
            put_right(db, row, &mut cleaned, &mut counts).map_err(Stop::Failed)?;
        }
        for (breach, more) in counts {
            breaches::add_counts(db, breach, more)?;
        }
        if dry_run { Err(Stop::DryRun(cleaned)) } else { Ok(cleaned) }
    });
    match done {
        Ok(cleaned) | Err(Stop::DryRun(cleaned)) => Ok(cleaned),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn put_right(
    db: &mut Db,
    row: &AccountRow,
    cleaned: &mut Cleaned,
    counts: &mut BTreeMap<u16, i64>,
) -> Result<(), JobError> {
    account_links::merge_key(db, row.key())?;
    // One that only runs had has its number just now.
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
            Some(address) => account_links::link_one(db, address, breach)?,
            None => false,
        };
        *counts.entry(breach).or_default() -= i64::from(!kept);
    }
    Ok(())
}
