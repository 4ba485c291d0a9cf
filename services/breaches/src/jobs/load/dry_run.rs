//! `accounts load --dry-run`: predicts the result of a load.

use std::collections::BTreeMap;

use database::Db;

use super::accounts::AccountsOptions;
use super::excluded::Excluded;
use super::read_accounts;
use super::skip_reason::SkipReason;
use super::sorted_text;
use super::tally::Tally;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::model::id_list;
use crate::store::{account_links, accounts};

/// The predicted result of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Forecast {
    /// Rows read.
    pub read: i64,
    /// Rows that would be accepted.
    pub accepted: i64,
    /// Rows that would be skipped.
    pub skipped: i64,
    /// Links of addresses that are not stored yet.
    pub new: i64,
    /// Links of addresses that are stored for other breaches.
    pub known: i64,
    /// Links that exist already.
    pub linked: i64,
    /// Addresses that are left out because their owners had everything removed.
    pub opted_out: i64,
    /// Skipped rows by reason.
    pub reasons: BTreeMap<SkipReason, i64>,
    /// Line and reason of the first skipped rows.
    pub skips: Vec<(u64, SkipReason)>,
}

/// Reads the files of a load and the affected accounts without changing anything.
///
/// # Errors
/// Returns the errors of the load.
pub fn forecast(context: &JobContext, options: &AccountsOptions) -> Result<Forecast, JobError> {
    let sources = options.sources(context)?;
    let mut tally = Tally::default();
    let mut sorted = read_accounts::sort(context, &sources, &options.reading(), None, &mut tally)?;
    let mut excluded = Excluded::new(context.settings.optout_memory_max);
    let mut found = Forecast {
        read: tally.counts.read,
        accepted: tally.counts.accepted,
        skipped: tally.counts.skipped,
        reasons: tally.reasons().clone(),
        skips: tally.first_skips().to_vec(),
        ..Forecast::default()
    };
    let mut db = context.pools.connect()?;
    excluded.refresh(&mut db)?;
    let read_error = || JobError::file("a temporary file");
    while let Some((k, text)) = sorted.next_record().map_err(read_error())? {
        let text = std::str::from_utf8(text).map_err(database::DatabaseError::broken)?;
        let (address, place) = sorted_text::parts(text);
        let breach = sources.breaches.get(place.parse().unwrap_or(0)).map_or(0, |breach| breach.id);
        if excluded.contains(&mut db, k, address)? {
            found.opted_out += 1;
        } else {
            look_up(&mut db, address, breach, &mut found)?;
        }
    }
    Ok(found)
}

fn look_up(db: &mut Db, address: &str, breach: u16, found: &mut Forecast) -> Result<(), JobError> {
    let rows = accounts::at_once_with_key(db, account_links::sorted_key(address))?;
    match account_links::pick_sorted(rows, address) {
        None => found.new += 1,
        Some(row) if id_list::contains(&row.breaches, breach) => found.linked += 1,
        Some(_) => found.known += 1,
    }
    Ok(())
}
