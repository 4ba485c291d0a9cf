//! `stealer-logs load`: links addresses to a breach and to the websites at which they were captured.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use batch::{BoundedLines, Line, Sorted, Sorter};
use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress};
use serde::{Deserialize, Serialize};

use super::address_reader::{self, Column};
use super::context::JobContext;
use super::csv_records::Record as Row;
use super::domain_ids::DomainIds;
use super::error::JobError;
use super::input::{JobInput, LONGEST_LINE};
use super::load::{self, Outcome, Record, Running, Tally};
use super::load_accounts::{self, Ending, Linker};
use super::skip_reason::SkipReason;
use crate::model::{AccountKey, Breach, loaded_address, website};
use crate::store::account_links;
use crate::store::stealer_logs::{self, NewPair};

/// Pairs of a SQLite transaction for each MiB of `LOAD_MEMORY_MB`: each takes the time of several
/// accounts.
const PER_MIB: usize = 512;

/// What to load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StealerLogsOptions {
    /// Name of the breach, which must come from stealer logs.
    pub breach: String,
    /// File, `-` for standard input.
    pub file: PathBuf,
    /// Drops an address whose only website in the file is its own mail domain.
    pub drop_self: bool,
    /// Leaves the published count as it is.
    pub keep_count: bool,
    /// Activates the breach when done.
    pub activate: bool,
}

#[derive(Deserialize)]
struct Object {
    email: String,
    website: String,
}

/// Between the address and the website of a sorted record; no address holds a line end.
const BETWEEN: char = '\n';

/// Loads pairs of address and website.
pub fn load_stealer_logs(
    context: &JobContext,
    options: &StealerLogsOptions,
) -> Result<Outcome, JobError> {
    let breach =
        context.pools.read_blocking(|db| load_accounts::open_breach(db, &options.breach))?;
    if !breach.flags.stealer_log {
        return Err(JobError::Rejected(format!("{} is no stealer log", breach.name)));
    }
    let params = serde_json::to_string(options).map_err(DatabaseError::broken)?;
    let running =
        load::begin(context, "stealer-logs", std::slice::from_ref(&options.file), &params)?;
    load::noted(context, running.id, || run(context, options, &breach, &running))
}

fn run(
    context: &JobContext,
    options: &StealerLogsOptions,
    breach: &Breach,
    running: &Running,
) -> Result<Outcome, JobError> {
    let (merge, tally) =
        load::sorted(context, running.id, |tally| sort(context, options, running.id, tally))?;
    let mut linker = Linker::new(context, breach);
    let mut websites = DomainIds::default();
    load::walk(context, running, merge, &tally, PER_MIB, |db, batch| {
        let added = link(db, options, breach.id, &mut linker, &mut websites, batch);
        if added.is_err() {
            websites.forget();
        }
        added
    })?;
    let StealerLogsOptions { keep_count, activate, .. } = *options;
    let ending = Ending { command: "stealer-logs load", keep_count, activate };
    let added = load_accounts::finish(context, breach, running.id, ending)?;
    Ok(Outcome::new(running.id, added, tally))
}

fn sort(
    context: &JobContext,
    options: &StealerLogsOptions,
    job: i64,
    tally: &mut Tally,
) -> Result<Sorted, JobError> {
    let folder = context.settings.temporary_folder();
    let mut sorter = Sorter::new(folder, load_accounts::sorting_budget(context));
    let (input, mut job_input) = JobInput::open(context, job, &options.file)?;
    let unreadable = || JobError::file(options.file.display().to_string());
    read(input, &mut |line, row| {
        match row.and_then(|(email, site)| parsed(email, site)) {
            Ok((address, site)) => {
                let key = AccountKey::of(&address.sha1());
                let text = format!("{}{BETWEEN}{site}", load::sorted_text(&address));
                sorter.push(key.0, text.as_bytes())?;
                tally.accept();
            }
            Err(reason) => tally.skip(line, reason),
        }
        job_input.report_sometimes(tally.counts).map_err(std::io::Error::other)
    })
    .map_err(unreadable())?;
    job_input.finish();
    sorter.finish().map_err(unreadable())
}

fn parsed(email: &str, site: &str) -> Result<(EmailAddress, DomainName), SkipReason> {
    let address = loaded_address::parse(email).map_err(|_| SkipReason::Address)?;
    Ok((address, website::host(site).ok_or(SkipReason::Website)?))
}

type Each<'e> = &'e mut dyn FnMut(u64, Result<(&str, &str), SkipReason>) -> std::io::Result<()>;

/// Reads JSON objects, one a line, or CSV; the first byte decides which.
fn read(input: impl std::io::Read, each: Each<'_>) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    let start = input.fill_buf()?;
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let is_json = start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json { read_json(input, each) } else { read_csv(input, each) }
}

fn read_json(input: impl BufRead, each: Each<'_>) -> std::io::Result<()> {
    let mut lines = BoundedLines::new(input, LONGEST_LINE);
    while let Some((number, line)) = lines.next_line()? {
        match line {
            Line::TooLong { .. } => each(number, Err(SkipReason::TooLong))?,
            Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => {}
            Line::Bytes(bytes) => match serde_json::from_slice::<Object>(bytes) {
                Ok(object) => each(number, Ok((&object.email, &object.website)))?,
                Err(_) => each(number, Err(SkipReason::Json))?,
            },
        }
    }
    Ok(())
}

/// Columns `email` and `website`, or the first two; any other column is never looked at.
fn read_csv(input: impl BufRead, each: Each<'_>) -> std::io::Result<()> {
    address_reader::each_row(input, find_columns, &mut |line, row| {
        let (record, (email, site)) = match row {
            Ok(row) => row,
            Err(reason) => return each(line, Err(reason)),
        };
        let cell = |place| address_reader::text_cell(record, place);
        each(line, cell(*email).and_then(|email| Ok((email, cell(*site)?))))
    })
}

fn find_columns(first: &Row) -> std::io::Result<((usize, usize), bool)> {
    let looks = address_reader::looks_like_address;
    let email = address_reader::find_column(first, None, &["email", "e-mail", "mail"], looks);
    let Some(Column { place, header }) = email else {
        return Err(std::io::Error::other("the CSV file has no column with addresses"));
    };
    let names = ["website", "url", "site", "host", "domain"];
    let site = address_reader::find_column(first, None, &names, |_| false);
    Ok(((place, site.map_or(place + 1, |column| column.place)), header))
}

fn link(
    db: &mut Db,
    options: &StealerLogsOptions,
    breach: u16,
    linker: &mut Linker,
    websites: &mut DomainIds,
    batch: &[Record<'_>],
) -> Result<i64, JobError> {
    let mut people: Vec<Record<'_>> = Vec::new();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for group in batch.chunk_by(|a, b| parts(a.text).0 == parts(b.text).0) {
        let Some(first) = group.first() else { continue };
        let (address, site) = parts(first.text);
        let own = group.len() == 1 && site == load::split_text(address).1;
        if !(own && options.drop_self) {
            people.push(Record { k: first.k, text: address });
            pairs.extend(group.iter().map(|record| parts(record.text)));
        }
    }
    linker.link(db, &people)?;
    let ids = websites.of(db, pairs.iter().map(|(_, site)| *site))?;
    let mut new = Vec::with_capacity(pairs.len());
    for ((address, _), website_id) in pairs.into_iter().zip(ids) {
        // Addresses that must not be stored have no row, and so no pair.
        if let Some(row) = account_links::find_sorted(db, address)? {
            new.push(NewPair { k: row.0, seq: row.1, website_id, breach_id: i32::from(breach) });
        }
    }
    let added = stealer_logs::add(db, &new)?;
    Ok(i64::try_from(added).map_err(DatabaseError::broken)?)
}

fn parts(text: &str) -> (&str, &str) {
    text.split_once(BETWEEN).unwrap_or((text, ""))
}
