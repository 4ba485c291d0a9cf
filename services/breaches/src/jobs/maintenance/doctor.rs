//! `doctor`: checks the database for inconsistencies.

use database::{DatabaseError, Db, structural_faults};
use domain::Sha1Digest;

use super::clean::is_odd;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::retry::RetryingConnection;
use crate::model::{AccountKey, Catalogue, id_list};
use crate::store::accounts::{self, AccountRow};
use crate::store::{
    breaches, domain_accounts, mail_domains, opt_outs, pastes, stealer_logs, unused_domains,
    versions,
};

/// Number of accounts to sample.
const SAMPLE: usize = 1_000;
/// Number of positions to sample from. At each one, consecutive accounts are read.
const PLACES: usize = 50;

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Findings {
    /// Last migration that was applied.
    pub schema_version: Option<String>,
    /// Damaged pages or indexes, and broken references between tables. The log names them.
    pub structural_faults: usize,
    /// Number of breaches in the catalogue.
    pub breaches: usize,
    pub accounts: i64,
    /// Accounts that lack a by-domain index entry or can't be found in their run.
    pub unfiled: i64,
    /// Accounts without data, which `accounts clean` removes.
    pub empty: i64,
    /// Domains that accounts refer to, but that are missing from `mail_domain`.
    pub missing_domains: u64,
    /// Stored domains that aren't domains, because an older version mistook a secret for part of
    /// one. `accounts clean` removes them.
    pub odd_domains: u64,
    /// Stored websites that aren't websites, because an older version mistook a password for one.
    /// `accounts clean` removes their stealer log entries.
    pub odd_websites: u64,
    /// Links to retired breaches, which a purge removes.
    pub retired_links: i64,
    /// Number of stealer log entries.
    pub stealer_pairs: i64,
    pub pastes: i64,
    pub opt_outs: i64,
    /// Number of accounts sampled.
    pub sampled: usize,
    /// Sampled accounts whose key doesn't match their address.
    pub wrong_keys: usize,
    /// Sampled accounts with the id of a breach that doesn't exist.
    pub orphan_ids: usize,
    /// Sampled accounts with ids that aren't in ascending order.
    pub unsorted_lists: usize,
    /// Sampled accounts that should have been removed because of an opt-out.
    pub opted_out: usize,
    /// Sampled accounts that aren't addresses, because an older version mistook a secret for part
    /// of one, perhaps the part in front. `accounts clean` repairs or removes them.
    pub odd_addresses: usize,
}

impl Findings {
    /// Returns `true` if there are no problems.
    pub fn is_sound(&self) -> bool {
        self.structural_faults == 0
            && self.unfiled + self.empty + self.retired_links == 0
            && self.missing_domains + self.odd_domains + self.odd_websites == 0
            && self.wrong_keys + self.orphan_ids + self.unsorted_lists == 0
            && self.opted_out + self.odd_addresses == 0
    }
}

/// Counts everything and takes a closer look at a random sample of accounts.
pub fn examine(context: &JobContext) -> Result<Findings, JobError> {
    let db = &mut RetryingConnection::for_checks(&context.pools)?;
    // Report structural damage first, because reading damaged rows might fail.
    let faults = read(db, structural_faults)?;
    faults.iter().for_each(|fault| log::error!("{fault}"));
    let catalogue = read(db, breaches::catalogue)?;
    let mut findings = Findings {
        schema_version: read(db, versions::schema_version)?,
        structural_faults: faults.len(),
        breaches: catalogue.all().len(),
        accounts: read(db, accounts::count)?,
        unfiled: read(db, domain_accounts::unfiled)? + read(db, accounts::faults)?,
        empty: read(db, accounts::count_empty)?,
        missing_domains: read(db, unused_domains::count_missing)?,
        odd_domains: read(db, |db| mail_domains::count_odd(db, mail_domains::odd_domains))?,
        odd_websites: read(db, |db| mail_domains::count_odd(db, stealer_logs::odd_websites))?,
        retired_links: read(db, breaches::retired_links)?,
        stealer_pairs: read(db, stealer_logs::count)?,
        pastes: read(db, pastes::count)?,
        opt_outs: read(db, opt_outs::count)?,
        ..Findings::default()
    };
    // Accounts in runs can't be read without their domain.
    if findings.missing_domains == 0 {
        for row in sample(db, findings.accounts)? {
            look_at(db, &catalogue, &row, &mut findings)?;
        }
    }
    Ok(findings)
}

/// Reads from the database. Repeats the read on a new connection if the first one is lost.
fn read<T>(
    db: &mut RetryingConnection,
    mut work: impl FnMut(&mut Db) -> Result<T, DatabaseError>,
) -> Result<T, JobError> {
    db.read(|db| Ok(work(db)?))
}

/// Reads all accounts, or a random sample if there are too many.
fn sample(db: &mut RetryingConnection, accounts: i64) -> Result<Vec<AccountRow>, JobError> {
    let start = (i64::MIN, -1);
    if accounts <= SAMPLE as i64 {
        return read(db, |db| accounts::after(db, start, accounts));
    }
    let mut rows = Vec::with_capacity(SAMPLE);
    for _ in 0..PLACES {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)
            .map_err(|error| JobError::Rejected(format!("no random bytes: {error}")))?;
        let (k, number) = (i64::from_le_bytes(bytes), (SAMPLE / PLACES) as i64);
        rows.extend(read(db, |db| accounts::sample(db, k, number))?);
    }
    Ok(rows)
}

fn look_at(
    db: &mut RetryingConnection,
    catalogue: &Catalogue,
    row: &AccountRow,
    findings: &mut Findings,
) -> Result<(), JobError> {
    let digest = Sha1Digest::of(row.address());
    let ids: Vec<u16> = id_list::ids(&row.breaches).collect();
    findings.sampled += 1;
    findings.wrong_keys += usize::from(AccountKey::of(&digest) != row.key());
    findings.orphan_ids += usize::from(ids.iter().any(|id| catalogue.by_id(*id).is_none()));
    findings.unsorted_lists += usize::from(!ids.is_sorted_by(|a, b| a < b));
    let choice = read(db, |db| opt_outs::get(db, &digest))?;
    let gone = choice == Some(crate::model::OptOut::Breaches);
    findings.opted_out += usize::from(gone);
    findings.odd_addresses += usize::from(is_odd(row));
    Ok(())
}
