//! `--dry-run`: predicts the outcome of a load.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::BufReader;

use batch::{BoundedLines, Sorted};
use database::Db;

use super::accounts::AccountsOptions;
use super::decoding::TextEncoding;
use super::excluded::Excluded;
use super::input::JobInput;
use super::paste_reader;
use super::pastes::{self, PastesOptions};
use super::sanity_check::SanityCheck;
use super::skip_reason::SkipReason;
use super::stealer_logs::{self, StealerLogsOptions};
use super::tally::Tally;
use super::{read_accounts, sorted_text};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job;
use crate::model::paste::Paste;
use crate::model::{AccountKey, id_list};
use crate::store::jobs::Counts;
use crate::store::{self, account_links, accounts};

/// Predicted outcome of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Forecast {
    /// Rows read.
    pub read: i64,
    /// Rows that would be accepted.
    pub accepted: i64,
    /// Rows that would be rejected.
    pub skipped: i64,
    /// Rows without an address.
    pub empty: i64,
    /// New links for addresses that aren't stored yet.
    pub new: i64,
    /// New links for addresses that are already stored.
    pub known: i64,
    /// Links that already exist.
    pub linked: i64,
    /// Links left out because the owner had all their data removed.
    pub opted_out: i64,
    /// Columns or fields that addresses are read from.
    pub columns: BTreeSet<String>,
    /// Number of rejected rows per reason.
    pub reasons: BTreeMap<SkipReason, i64>,
    /// Line numbers and reasons of the first skipped rows.
    pub skips: Vec<(u64, SkipReason)>,
}

impl Forecast {
    /// Fills in the row counts. The links still have to be counted.
    fn of(tally: &Tally) -> Self {
        Self {
            read: tally.counts.read,
            accepted: tally.counts.accepted,
            skipped: tally.counts.skipped,
            empty: tally.empty(),
            columns: tally.columns.clone(),
            reasons: tally.reasons().clone(),
            skips: tally.first_skips().to_vec(),
            ..Self::default()
        }
    }
}

/// Reads a load's files and looks up the accounts, without changing anything.
///
/// # Errors
/// Fails whenever the load would.
pub fn forecast(context: &JobContext, options: &AccountsOptions) -> Result<Forecast, JobError> {
    let sources = options.sources(context)?;
    let mut tally = Tally::default();
    let mut sorted = read_accounts::sort(context, &sources, &options.reading(), None, &mut tally)?;
    let mut excluded = Excluded::new(context.settings.optout_memory_max, None);
    let mut found = Forecast::of(&tally);
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

/// Reads the file of a stealer log load and looks up the accounts, without changing anything.
/// Counts pairs of address and website.
///
/// # Errors
/// Fails whenever the load would.
pub fn forecast_stealer_logs(
    context: &JobContext,
    options: &StealerLogsOptions,
) -> Result<Forecast, JobError> {
    let breach = i32::from(stealer_logs::target(context, options)?.id);
    let mut tally = Tally::default();
    let sorted = stealer_logs::sort(context, options, None, &mut tally)?;
    let stored = |db: &mut Db, account| -> Result<HashSet<String>, JobError> {
        let pairs = store::stealer_logs::websites(db, account)?;
        Ok(pairs.into_iter().filter(|pair| pair.1 == breach).map(|(website, _)| website).collect())
    };
    let mut found = Forecast::of(&tally);
    count_links(context, sorted, options.drop_self, &mut found, stored)?;
    Ok(found)
}

/// Reads the file of a paste load and looks up the accounts, without changing anything. Counts
/// lines, and links from addresses to pastes.
///
/// # Errors
/// Fails whenever the load would.
pub fn forecast_pastes(
    context: &JobContext,
    options: &PastesOptions,
) -> Result<Forecast, JobError> {
    let unreadable = || JobError::file(options.file.display().to_string());
    let mut sorter = job::sorter(context);
    let (input, mut job_input) = JobInput::open(None, &options.file, TextEncoding::Auto)?;
    let input = BufReader::with_capacity(1 << 20, input);
    let mut lines = BoundedLines::new(input, pastes::longest(context));
    let (mut tally, mut text) = (Tally::default(), String::new());
    while let Some((number, line)) = lines.next_line().map_err(unreadable())? {
        match paste_reader::read(number, &line) {
            Ok(None) => continue,
            Ok(Some(entry)) => {
                tally.accept();
                let place = place_of(&entry.paste);
                for address in entry.addresses() {
                    sorted_text::write_with(&mut text, address, &place);
                    let key = AccountKey::of(&address.sha1());
                    sorter.push(key.0, text.as_bytes()).map_err(job::sorting_error(context))?;
                }
            }
            Err(reason) => tally.skip(number, reason),
        }
        job_input.report(tally.counts);
    }
    job_input.finish()?;
    SanityCheck::of_pastes().judge_file(&options.file, Counts::default(), &tally)?;
    let sorted = sorter.finish().map_err(job::sorting_error(context))?;
    let stored = |db: &mut Db, account| -> Result<HashSet<String>, JobError> {
        Ok(store::pastes::of_account(db, account)?.iter().map(place_of).collect())
    };
    let mut found = Forecast::of(&tally);
    count_links(context, sorted, false, &mut found, stored)?;
    Ok(found)
}

/// Identifies a paste by source and id. The source consists of letters, so this is unambiguous.
fn place_of(paste: &Paste) -> String {
    format!("{} {}", paste.source, paste.id)
}

/// How the current address is stored.
enum Stored {
    OptedOut,
    Nothing,
    /// Stored with these websites or pastes.
    Places(HashSet<String>),
}

impl Stored {
    fn count(&self, place: &str, found: &mut Forecast) {
        match self {
            Self::OptedOut => found.opted_out += 1,
            Self::Nothing => found.new += 1,
            Self::Places(places) if places.contains(place) => found.linked += 1,
            Self::Places(_) => found.known += 1,
        }
    }
}

/// Counts links from sorted addresses to websites or pastes. If `drop_self` is set, addresses whose
/// only website is their own domain are ignored.
fn count_links(
    context: &JobContext,
    mut sorted: Sorted,
    drop_self: bool,
    found: &mut Forecast,
    places: impl Fn(&mut Db, (i64, i16)) -> Result<HashSet<String>, JobError>,
) -> Result<(), JobError> {
    let mut db = context.pools.connect()?;
    let mut excluded = Excluded::new(context.settings.optout_memory_max, None);
    excluded.refresh(&mut db)?;
    let read_error = || JobError::file("a temporary file");
    let (mut current, mut stored) = (String::new(), Stored::Nothing);
    // Set as long as the only website found for the address is its own domain.
    let mut own: Option<String> = None;
    while let Some((k, text)) = sorted.next_record().map_err(read_error())? {
        let text = std::str::from_utf8(text).map_err(database::DatabaseError::broken)?;
        let (address, place) = sorted_text::parts(text);
        if address == current {
            if let Some(own) = own.take() {
                stored.count(&own, found);
            }
            stored.count(place, found);
            continue;
        }
        address.clone_into(&mut current);
        stored = if excluded.contains(&mut db, k, address)? {
            Stored::OptedOut
        } else {
            let rows = accounts::at_once_with_key(&mut db, account_links::sorted_key(address))?;
            match account_links::pick_sorted(rows, address) {
                None => Stored::Nothing,
                Some(row) => Stored::Places(places(&mut db, (row.k, row.seq))?),
            }
        };
        let is_own = drop_self && place == sorted_text::split(address).1;
        own = is_own.then(|| place.to_owned());
        if !is_own {
            stored.count(place, found);
        }
    }
    Ok(())
}
