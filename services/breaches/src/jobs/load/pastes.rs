//! `pastes load`: loads pastes, one per line, along with their addresses.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufReader;
use std::path::PathBuf;

use batch::BoundedLines;
use database::{DatabaseError, Db};
use domain::EmailAddress;
use serde::{Deserialize, Serialize};

use super::adaptive_batch::AdaptiveBatch;
use super::decoding::TextEncoding;
use super::excluded::Excluded;
use super::input::{self, JobInput, MAX_LINE};
use super::paste_reader::{Entry, read};
use super::sanity_check::SanityCheck;
use super::sorted_text;
use super::tally::{Outcome, Tally};
use crate::app;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::retry::RetryingConnection;
use crate::model::{AccountKey, address_text, paste as rules};
use crate::store::accounts::{
    self, AccountWriter, Linked, NewAccount, NewLink, PasteLink, Placement,
};
use crate::store::jobs::Counts;
use crate::store::notices::{self, PASTE};
use crate::store::pastes::{self, PasteAccount};
use crate::store::{admin_events, cluster, jobs, mail_domains, untold_pastes, versions};

/// Maximum number of pastes in memory. Their combined size is also limited, to the maximum length
/// of a single line.
const BATCH: usize = 200;
/// The same for distributed databases, where each transaction has a high fixed cost.
const STAGED_BATCH: usize = 4_000;
/// Minimum number of addresses that a paste counts as on a distributed database, where each paste
/// takes several statements, but all addresses are copied together.
const STAGED_PASTE: usize = 50;
/// Maximum number of addresses per transaction for each MiB of load memory; see
/// [`AdaptiveBatch::new`].
const PER_MIB: usize = 256;
/// Maximum length of a line in MiB. Reduced to a quarter of `LOAD_MEMORY_MB` if that is less.
const MAX_LINE_MIB: usize = 16;

/// Load options.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PastesOptions {
    /// File, or `-` for standard input.
    pub file: PathBuf,
    /// Don't send notices about the new links.
    pub no_notify: bool,
}

/// Pastes in memory, written in several transactions if they have many addresses.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    size: usize,
    /// Whether to post notices about them.
    notifies: bool,
    /// The storage that new accounts are written to.
    placement: Placement,
}

impl Batch {
    fn is_staged(&self) -> bool {
        self.placement == Placement::Staged
    }

    fn has_room(&self, size: usize, most: usize) -> bool {
        let pastes = if self.is_staged() { STAGED_BATCH } else { BATCH };
        self.entries.len() < pastes && self.size + size <= most
    }

    fn push(&mut self, entry: Entry) {
        self.size += entry.size;
        self.entries.push(entry);
    }

    /// Empties the batch and returns its pastes.
    fn take(&mut self) -> Self {
        let Self { notifies, placement, .. } = *self;
        std::mem::replace(self, Self { notifies, placement, ..Self::default() })
    }
}

/// A paste with some of its addresses.
struct Part<'a> {
    entry: &'a Entry,
    addresses: &'a [EmailAddress],
    /// Whether the paste has no further addresses.
    is_last: bool,
}

/// Takes up to `limit` addresses, starting after the first `skipped` addresses of the first paste.
/// A paste counts as at least `per_paste` addresses.
fn take_parts(
    entries: &[Entry],
    mut skipped: usize,
    limit: usize,
    per_paste: usize,
) -> Vec<Part<'_>> {
    let (mut parts, mut left) = (Vec::new(), limit);
    for entry in entries {
        if left == 0 {
            break;
        }
        let rest = &entry.addresses()[skipped..];
        let addresses = &rest[..rest.len().min(left)];
        left = left.saturating_sub(addresses.len().max(per_paste));
        skipped = 0;
        parts.push(Part { entry, addresses, is_last: addresses.len() == rest.len() });
    }
    parts
}

/// Loads pastes with their addresses.
pub fn load_pastes(context: &JobContext, options: &PastesOptions) -> Result<Outcome, JobError> {
    load(context, options, None)
}

/// Loads pastes. If `resumed` is set, resumes that job.
pub(super) fn load(
    context: &JobContext,
    options: &PastesOptions,
    resumed: Option<i64>,
) -> Result<Outcome, JobError> {
    let options = &PastesOptions { file: input::absolute(&options.file)?, ..options.clone() };
    let other = PastesOptions { no_notify: !options.no_notify, ..options.clone() };
    let params = Params::of_load(options, &other)?.resuming(resumed);
    let running = job::begin(context, "pastes", std::slice::from_ref(&options.file), &params)?;
    job::noted(context, running.id, |heartbeat| run(context, options, &running, heartbeat))
}

/// Returns the maximum length of a line, which also limits the total length of the lines in a
/// batch.
pub(super) fn longest(context: &JobContext) -> usize {
    ((context.settings.load_memory_mb << 20) / 4).clamp(MAX_LINE, MAX_LINE_MIB << 20)
}

fn run(
    context: &JobContext,
    options: &PastesOptions,
    running: &Running,
    heartbeat: &Heartbeat,
) -> Result<Outcome, JobError> {
    let (input, mut job_input) =
        JobInput::open(Some(heartbeat), &options.file, TextEncoding::Auto)?;
    let longest = longest(context);
    let mut lines = BoundedLines::new(BufReader::with_capacity(1 << 20, input), longest);
    let mut tally = Tally::default();
    let mut invalid = 0;
    let mut excluded = Excluded::new(context.settings.optout_memory_max, Some(running.id));
    let mut db = RetryingConnection::open(&context.pools)?;
    let placement = db.read(|db| Ok(accounts::placement_in_table(db)?))?;
    let mut batch = Batch { notifies: !options.no_notify, placement, ..Batch::default() };
    let mut pace = match batch.is_staged() {
        true => AdaptiveBatch::staged(context),
        false => AdaptiveBatch::new(context, PER_MIB, false),
    };
    let mut open = true;
    let unreadable = || JobError::file(options.file.display().to_string());
    while let Some((number, line)) = lines.next_line().map_err(unreadable())? {
        match read(number, &line) {
            Ok(None) => continue,
            Ok(Some(entry)) => {
                tally.accept();
                invalid += entry.emails.invalid;
                if open && running.after.is_none_or(|after| entry.line > after) {
                    if !batch.has_room(entry.size, longest) {
                        let full = batch.take();
                        open =
                            commit(context, running.id, &mut db, &mut excluded, &full, &mut pace)?;
                    }
                    batch.push(entry);
                }
            }
            Err(reason) => tally.skip(number, reason),
        }
        job_input.report(tally.counts);
    }
    commit(context, running.id, &mut db, &mut excluded, &batch, &mut pace)?;
    job_input.finish()?;
    SanityCheck::of_pastes().judge_file(&options.file, Counts::default(), &tally)?;
    if invalid > 0 {
        log::warn!("skipped {invalid} invalid addresses in pastes");
    }
    finish(context, running.id, options, tally)
}

/// Writes a batch. Returns `false` if another process has already finished loading the same input.
fn commit(
    context: &JobContext,
    id: i64,
    db: &mut RetryingConnection,
    excluded: &mut Excluded,
    batch: &Batch,
    pace: &mut AdaptiveBatch,
) -> Result<bool, JobError> {
    let (mut entries, mut skipped) = (&batch.entries[..], 0);
    let per_paste = if batch.is_staged() { STAGED_PASTE } else { 1 };
    while !entries.is_empty() {
        let parts = take_parts(entries, skipped, pace.records(), per_paste);
        match pace.run(|| write(context, id, db, excluded, batch, &parts)) {
            Err(JobError::DoneElsewhere) => return Ok(false),
            written => written?,
        }
        let written = parts.iter().filter(|part| part.is_last).count();
        if written > 0 {
            skipped = 0;
        }
        skipped += parts.last().filter(|part| !part.is_last).map_or(0, |p| p.addresses.len());
        entries = &entries[written..];
    }
    Ok(true)
}

/// Writes parts of a batch in one transaction. The checkpoint is the line of the last paste that is
/// complete, or the line before the first one. A resumed load repeats the others, which adds no
/// link twice.
fn write(
    context: &JobContext,
    id: i64,
    db: &mut RetryingConnection,
    excluded: &mut Excluded,
    batch: &Batch,
    parts: &[Part<'_>],
) -> Result<(), JobError> {
    let complete = match parts.iter().rfind(|part| part.is_last) {
        Some(part) => part.entry.line,
        None => parts.first().map_or(0, |part| part.entry.line - 1),
    };
    let cursor = complete.to_le_bytes();
    db.transaction(|db| {
        versions::lock_accounts(db)?;
        job::expect_unfinished(db, id)?;
        // Links that a failed server has not committed would be counted and announced again.
        cluster::complete_all_commits(db)?;
        excluded.refresh(db)?;
        let mut news = News { notifies: batch.notifies, counts: BTreeMap::new() };
        let added = link(db, excluded, batch.placement, parts, &mut news)?;
        untold_pastes::add(db, &news.counts)?;
        // This is also a heartbeat, and the transaction may have waited for a long time.
        let moved = jobs::advance(db, id, &cursor, added, context.clock.unix())?;
        job::expect_open(db, id, moved)
    })
}

/// The new links in a transaction.
struct News {
    /// Whether to post notices about them.
    notifies: bool,
    /// Number of new links per domain and paste id.
    counts: BTreeMap<(String, i64), i64>,
}

impl News {
    /// Counts new links and their domains for the notices at the end of the load. If notices are
    /// suppressed, the links are recorded as already announced.
    fn add(&mut self, db: &mut Db, links: &[(&PasteLink, &str)]) -> Result<(), JobError> {
        if self.notifies {
            for (link, domain) in links {
                *self.counts.entry(((*domain).to_owned(), link.paste)).or_default() += 1;
            }
            return Ok(());
        }
        let mut keys: Vec<i64> = links.iter().map(|(link, _)| link.k).collect();
        keys.sort_unstable();
        keys.dedup();
        let listeners = notices::listeners_with_keys(db, &keys)?.into_iter();
        let listeners: HashMap<String, i64> = listeners.map(|(id, email)| (email, id)).collect();
        if listeners.is_empty() {
            return Ok(());
        }
        for (link, domain) in links {
            if let Some(id) = listeners.get(&address_text::full_text(&link.local, domain)) {
                notices::record(db, *id, PASTE, &[link.paste])?;
            }
        }
        Ok(())
    }
}

/// Links pastes to their addresses. Returns the number of new links.
fn link(
    db: &mut Db,
    excluded: &Excluded,
    placement: Placement,
    parts: &[Part<'_>],
    news: &mut News,
) -> Result<i64, JobError> {
    let mut links: Vec<(i64, Cow<'_, str>, i64)> = Vec::new();
    let mut hidden = HashSet::new();
    for part in parts {
        let paste = pastes::upsert(db, &part.entry.paste)?;
        if rules::is_opt_out_mark(&part.entry.paste.source) {
            hidden.insert(paste);
        }
        for address in part.addresses {
            let (k, text) = (AccountKey::of(&address.sha1()).0, sorted_text::of(address));
            if !excluded.contains(db, k, &text)? {
                links.push((k, text, paste));
            }
        }
    }
    links.sort_unstable();
    links.dedup();
    let mut names: Vec<&str> = links.iter().map(|link| sorted_text::split(&link.1).1).collect();
    names.sort_unstable();
    names.dedup();
    let ids = mail_domains::ids(db, &names)?;
    let mut rows = Vec::with_capacity(links.len());
    for (k, text, paste) in &links {
        let (local, domain) = sorted_text::split(text);
        let domain_id = ids.get(domain).copied().ok_or(DatabaseError::NotFound)?;
        let account = NewAccount { k: *k, domain_id, local, breaches: &[] };
        rows.push(NewLink { account, other_id: *paste });
    }
    let mut accounts: Vec<NewAccount<'_>> = rows.iter().map(|row| row.account).collect();
    accounts.dedup();
    let mut linked = Linked::default();
    let mut writer = AccountWriter::new(db, placement, false)?;
    writer.write(db, &accounts, &mut linked)?;
    writer.finish(db, &mut linked)?;
    let new = add_links(db, placement, &rows)?;
    let domains: HashMap<i32, &str> = ids.iter().map(|(name, id)| (*id, name.as_str())).collect();
    let shown = new.iter().filter(|link| !hidden.contains(&link.paste));
    let shown = shown.filter_map(|link| Some((link, *domains.get(&link.domain_id)?)));
    news.add(db, &shown.collect::<Vec<_>>())?;
    Ok(i64::try_from(new.len()).map_err(DatabaseError::broken)?)
}

/// Links stored accounts, sorted by key, to pastes. Returns the new links.
fn add_links(
    db: &mut Db,
    placement: Placement,
    rows: &[NewLink<'_>],
) -> Result<Vec<PasteLink>, DatabaseError> {
    if let (Placement::Staged, Db::Pg(conn)) = (placement, &mut *db) {
        return accounts::add_pastes(conn, rows);
    }
    let found = accounts::with_sequence(db, rows)?;
    let links: Vec<PasteAccount> = found
        .iter()
        .map(|(link, seq)| PasteAccount { k: link.account.k, seq: *seq, paste_id: link.other_id })
        .collect();
    let added = pastes::add_accounts(db, &links)?;
    let new = found.iter().zip(&links).filter(|(_, link)| added.contains(*link));
    let named = new.map(|((NewLink { account, .. }, _), link)| PasteLink {
        k: link.k,
        domain_id: account.domain_id,
        local: account.local.to_owned(),
        paste: link.paste_id,
    });
    Ok(named.collect())
}

fn finish(
    context: &JobContext,
    id: i64,
    options: &PastesOptions,
    tally: Tally,
) -> Result<Outcome, JobError> {
    let (counts, skips, now) = (tally.counts, tally.skips(), context.clock.unix());
    // This is a separate transaction so that the counts are saved even if another process has
    // finished the job.
    context.write(|db| Ok(jobs::set_input(db, id, counts, &skips)?))?;
    let added = context.write(|db| {
        versions::lock_accounts(db)?;
        job::expect_unfinished(db, id)?;
        // Notices to subscribers would miss links that are committed later.
        cluster::complete_all_commits(db)?;
        let added = jobs::get(db, id)?.added;
        let is_open = jobs::finish(db, id, now)?;
        job::expect_open(db, id, is_open)?;
        if !options.no_notify {
            app::post_paste_notices(db, id, now)?;
        }
        versions::bump_pastes(db)?;
        admin_events::add(db, now, "pastes load", "pastes", &format!("job {id}"))?;
        Ok(added)
    });
    let added = job::added_by_any(context, id, added)?;
    Ok(Outcome::new(id, added, tally).without_notices(options.no_notify))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use batch::Line;
    use database::on_backend;
    use diesel::connection::{Connection, InstrumentationEvent};

    use super::*;

    #[test]
    fn suppressed_notices_of_many_links_take_one_query() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let link = |k| PasteLink { k, domain_id: 1, local: format!("user{k}"), paste: 1 };
        let links: Vec<PasteLink> = (0..100).map(link).collect();
        let links: Vec<(&PasteLink, &str)> =
            links.iter().map(|link| (link, "corp.example")).collect();
        let statements = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&statements);
        let added = pools.read_blocking(|db| {
            let count = move |event: InstrumentationEvent<'_>| {
                if let InstrumentationEvent::StartQuery { .. } = event {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            };
            on_backend!(db, conn => conn.set_instrumentation(count));
            News { notifies: false, counts: BTreeMap::new() }.add(db, &links)
        });
        added.unwrap();
        assert_eq!(statements.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn batch_is_limited_by_pastes_and_by_bytes() {
        let line = Line::Bytes(br#"{"Source":"Pastebin","Id":"a"}"#);
        let entry = || read(7, &line).unwrap().unwrap();
        let size = entry().size;
        for (most, expected) in [(10 * size, 10), (11 * size - 1, 10), (usize::MAX, BATCH)] {
            let mut batch = Batch::default();
            while batch.has_room(size, most) {
                batch.push(entry());
            }
            assert_eq!(batch.entries.len(), expected);
        }
    }

    #[test]
    fn transaction_takes_part_of_a_long_paste_and_several_short_ones() {
        let entry = |emails: &str| {
            let json = format!(r#"{{"Source":"Pastebin","Id":"a","Emails":[{emails}]}}"#);
            read(7, &Line::Bytes(json.as_bytes())).unwrap().unwrap()
        };
        let long = r#""a@c.example","b@c.example","c@c.example""#;
        let entries = [entry(long), entry(""), entry(r#""d@c.example""#)];
        let taken = |skipped, limit| {
            let parts = take_parts(&entries, skipped, limit, 1);
            parts.iter().map(|part| (part.addresses.len(), part.is_last)).collect::<Vec<_>>()
        };
        assert_eq!(taken(0, 2), [(2, false)]);
        assert_eq!(taken(2, 2), [(1, true), (0, true)]);
        assert_eq!(taken(0, usize::MAX), [(3, true), (0, true), (1, true)]);
    }

    #[test]
    fn transaction_on_a_distributed_database_takes_few_pastes() {
        let entry = |n: usize| {
            let json = format!(
                r#"{{"Source":"Pastebin","Id":"{n}","Emails":["a@c.example","b@c.example"]}}"#
            );
            read(7, &Line::Bytes(json.as_bytes())).unwrap().unwrap()
        };
        let entries: Vec<Entry> = (0..STAGED_BATCH).map(entry).collect();
        let taken = |limit| take_parts(&entries, 0, limit, STAGED_PASTE).len();
        // The first transaction, and one on a fast cluster.
        assert_eq!([taken(25_000), taken(200_000)], [500, STAGED_BATCH]);
    }
}
