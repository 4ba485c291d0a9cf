//! `pastes load`: one paste with its addresses a line.

use std::io::BufReader;
use std::path::PathBuf;

use domain::EmailAddress;
use serde::{Deserialize, Serialize};
use store::{Db, transaction};

use super::addresses::Reason;
use super::lines::{Line, Lines};
use super::load::{self, Excluded, Outcome, Running, Tally};
use super::reading::Reading;
use super::{Context, JobError};
use crate::model::{AccountKey, instant, paste as rules};
use crate::store::{account_write, admin_event, job, meta, paste};

/// Pastes of one transaction.
const BATCH: usize = 200;

/// What to load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wish {
    /// File, `-` for standard input.
    pub file: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    source: String,
    id: String,
    title: Option<String>,
    date: Option<String>,
    email_count: Option<i64>,
    #[serde(default)]
    emails: Vec<String>,
}

struct Entry {
    line: i64,
    paste: rules::Paste,
    addresses: Vec<EmailAddress>,
}

/// Loads; see the module.
pub fn load(context: &Context, wish: &Wish) -> Result<Outcome, JobError> {
    let params = serde_json::to_string(wish).map_err(store::StoreError::broken)?;
    let running = load::begin(context, "pastes", std::slice::from_ref(&wish.file), &params)?;
    load::noted(context, running.id, || run(context, wish, &running))
}

fn run(context: &Context, wish: &Wish, running: &Running) -> Result<Outcome, JobError> {
    let (input, mut reading) = Reading::open(context, running.id, &wish.file)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 20, input));
    let mut tally = Tally::default();
    let mut excluded = Excluded::new(context.settings.optout_memory_max);
    let mut db = load::connect(context)?;
    let mut batch = Vec::with_capacity(BATCH);
    let unreadable = || JobError::file(wish.file.display().to_string());
    while let Some((number, line)) = lines.next_line().map_err(unreadable())? {
        match read(number, &line) {
            Ok(None) => continue,
            Ok(Some(entry)) => {
                tally.accept();
                if running.after.is_none_or(|after| entry.line > after) {
                    batch.push(entry);
                }
            }
            Err(reason) => tally.skip(number, reason),
        }
        if batch.len() == BATCH {
            commit(context, running.id, &mut db, &mut excluded, &mut batch)?;
            reading.tell(tally.counts)?;
        }
    }
    commit(context, running.id, &mut db, &mut excluded, &mut batch)?;
    reading.end();
    finish(context, running.id, tally)
}

fn read(number: u64, line: &Line<'_>) -> Result<Option<Entry>, Reason> {
    let bytes = match line {
        Line::TooLong => return Err(Reason::TooLong),
        Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => return Ok(None),
        Line::Bytes(bytes) => bytes,
    };
    let row: Row = serde_json::from_slice(bytes).map_err(|_| Reason::Json)?;
    let date = match row.date.as_deref() {
        None => None,
        Some(text) => Some(instant::parse(text).ok_or(Reason::Json)?),
    };
    if !rules::is_source(&row.source) || row.id.is_empty() {
        return Err(Reason::Json);
    }
    let mut addresses: Vec<EmailAddress> =
        row.emails.iter().filter_map(|text| EmailAddress::parse(text).ok()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let counted = i64::try_from(addresses.len()).map_err(|_| Reason::Json)?;
    let email_count = row.email_count.unwrap_or(counted);
    let line = i64::try_from(number).map_err(|_| Reason::Json)?;
    let paste =
        rules::Paste { source: row.source, id: row.id, title: row.title, date, email_count };
    Ok(Some(Entry { line, paste, addresses }))
}

fn commit(
    context: &Context,
    id: i64,
    db: &mut Db,
    excluded: &mut Excluded,
    batch: &mut Vec<Entry>,
) -> Result<(), JobError> {
    let Some(last) = batch.last() else { return Ok(()) };
    let (cursor, now) = (last.line.to_le_bytes(), context.clock.unix());
    transaction(db, |db| {
        meta::lock_accounts(db)?;
        excluded.refresh(db)?;
        let mut added = 0;
        for entry in batch.iter() {
            added += link(db, excluded, entry)?;
        }
        if job::advance(db, id, &cursor, added, now)? { Ok(()) } else { Err(JobError::Cancelled) }
    })?;
    batch.clear();
    Ok(())
}

fn link(db: &mut Db, excluded: &Excluded, entry: &Entry) -> Result<i64, JobError> {
    let paste = paste::upsert(db, &entry.paste)?;
    let mut added = 0;
    for address in &entry.addresses {
        let k = AccountKey::of(&address.sha1()).0;
        if !excluded.holds(db, k, &load::sorted_text(address))? {
            let row = account_write::ensure(db, address)?;
            added += i64::from(paste::add_account(db, (row.k, row.seq), paste)?);
        }
    }
    Ok(added)
}

fn finish(context: &Context, id: i64, tally: Tally) -> Result<Outcome, JobError> {
    let (counts, skips, now) = (tally.counts, tally.skips(), context.clock.unix());
    let added = context.pools.write_blocking(|db| -> Result<i64, JobError> {
        job::set_input(db, id, counts, &skips)?;
        job::finish(db, id, "done", None, now)?;
        admin_event::add(db, now, "pastes load", "pastes", &format!("job {id}"))?;
        Ok(job::get(db, id)?.added)
    })?;
    Ok(Outcome {
        job: id,
        read: counts.read,
        accepted: counts.accepted,
        skipped: counts.skipped,
        added,
        skips: tally.into_skips(),
    })
}
