//! `doctor`: checks the database for inconsistencies.

use database::{DatabaseError, Db, structural_faults};
use domain::Sha1Digest;

use super::clean::is_odd;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::model::{AccountKey, Catalogue, id_list};
use crate::store::accounts::{self, AccountRow};
use crate::store::{
    breaches, domain_accounts, mail_domains, opt_outs, pastes, stealer_logs, versions,
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
            && self.odd_domains + self.odd_websites == 0
            && self.wrong_keys + self.orphan_ids + self.unsorted_lists == 0
            && self.opted_out + self.odd_addresses == 0
    }
}

/// Counts everything and takes a closer look at a random sample of accounts.
pub fn examine(context: &JobContext) -> Result<Findings, JobError> {
    let mut db = context.pools.connect()?;
    let db = &mut db;
    // Report structural damage first, because reading damaged rows might fail.
    let faults = structural_faults(db)?;
    faults.iter().for_each(|fault| log::error!("{fault}"));
    let catalogue = breaches::catalogue(db)?;
    let mut findings = Findings {
        schema_version: versions::schema_version(db)?,
        structural_faults: faults.len(),
        breaches: catalogue.all().len(),
        accounts: accounts::count(db)?,
        unfiled: domain_accounts::unfiled(db)? + accounts::faults(db)?,
        empty: accounts::count_empty(db)?,
        odd_domains: mail_domains::count_odd(db, mail_domains::odd_domains)?,
        odd_websites: mail_domains::count_odd(db, stealer_logs::odd_websites)?,
        retired_links: breaches::retired_links(db)?,
        stealer_pairs: stealer_logs::count(db)?,
        pastes: pastes::count(db)?,
        opt_outs: opt_outs::count(db)?,
        ..Findings::default()
    };
    for row in sample(db, findings.accounts)? {
        look_at(db, &catalogue, &row, &mut findings)?;
    }
    Ok(findings)
}

/// Reads all accounts, or a random sample if there are too many.
fn sample(db: &mut Db, accounts: i64) -> Result<Vec<AccountRow>, JobError> {
    let start = (i64::MIN, -1);
    if accounts <= SAMPLE as i64 {
        return Ok(accounts::after(db, start, accounts)?);
    }
    let mut rows = Vec::with_capacity(SAMPLE);
    for _ in 0..PLACES {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)
            .map_err(|error| JobError::Rejected(format!("no random bytes: {error}")))?;
        rows.extend(accounts::sample(db, i64::from_le_bytes(bytes), (SAMPLE / PLACES) as i64)?);
    }
    Ok(rows)
}

fn look_at(
    db: &mut Db,
    catalogue: &Catalogue,
    row: &AccountRow,
    findings: &mut Findings,
) -> Result<(), DatabaseError> {
    let digest = Sha1Digest::of(row.address());
    let ids: Vec<u16> = id_list::ids(&row.breaches).collect();
    findings.sampled += 1;
    findings.wrong_keys += usize::from(AccountKey::of(&digest) != row.key());
    findings.orphan_ids += usize::from(ids.iter().any(|id| catalogue.by_id(*id).is_none()));
    findings.unsorted_lists += usize::from(!ids.is_sorted_by(|a, b| a < b));
    let gone = opt_outs::get(db, &digest)? == Some(crate::model::OptOut::Breaches);
    findings.opted_out += usize::from(gone);
    findings.odd_addresses += usize::from(is_odd(row));
    Ok(())
}
