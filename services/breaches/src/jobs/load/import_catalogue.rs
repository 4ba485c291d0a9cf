//! `catalogue import`: imports breaches in the API's format.

use std::collections::HashSet;
use std::io::Read;

use database::{Db, rehearse};
use serde_json::Value;

use super::decoding::{self, TextEncoding};
use crate::jobs::error::JobError;
use crate::model::entry::{self, EntryError};
use crate::model::{Breach, instant};
use crate::store::{admin_events, breaches, versions};

#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// Deactivate breaches that aren't in the file.
    pub deactivate_missing: bool,
    /// The operator has agreed to deactivating these breaches and to retiring breaches that have
    /// links.
    pub confirmed: bool,
    /// Only report the changes. They're made but then rolled back.
    pub dry_run: bool,
}

/// Outcome of an import. Breaches are listed by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ImportReport {
    /// New breaches.
    pub added: Vec<String>,
    /// Changed breaches and the attributes that differ.
    pub changed: Vec<(String, Vec<&'static str>)>,
    /// Breaches with links that the file retires, each with the number of links that a purge will
    /// remove.
    pub retired: Vec<(String, i64)>,
    /// Number of unchanged breaches.
    pub unchanged: usize,
    /// Deactivated breaches.
    pub deactivated: Vec<String>,
    /// JSON members that this version doesn't know.
    pub unknown_members: Vec<String>,
}

/// Maximum size of a catalogue in bytes. All of it is read into memory. 65,535 breaches take about
/// 80 MB.
const MAX_BYTES: u64 = 96 << 20;

/// Reads a JSON array, or one JSON object per line. Compression and UTF-16 are detected.
///
/// # Errors
/// Fails if the input is blank, which is what a failed command or download leaves behind.
pub fn read_catalogue(input: impl Read + 'static) -> Result<Vec<Value>, JobError> {
    let mut text = String::new();
    let size = decoding::text(input, TextEncoding::Auto)
        .and_then(|input| input.take(MAX_BYTES + 1).read_to_string(&mut text));
    if size.map_err(JobError::file("the catalogue"))? as u64 > MAX_BYTES {
        return Err(JobError::Rejected("the catalogue is larger than 96 MiB".to_owned()));
    }
    if text.trim().is_empty() {
        let text = "the catalogue contains no data, so nothing was imported; check how the file \
                    was created";
        return Err(JobError::Rejected(text.to_owned()));
    }
    let wrong = |error: serde_json::Error| {
        JobError::Rejected(format!("the catalogue is not valid JSON: {error}"))
    };
    let values = serde_json::Deserializer::from_str(&text)
        .into_iter::<Value>()
        .collect::<Result<Vec<_>, _>>()
        .map_err(wrong)?;
    Ok(values
        .into_iter()
        .flat_map(|value| match value {
            Value::Array(entries) => entries,
            other => vec![other],
        })
        .collect())
}

/// Imports entries in the current transaction. A single invalid entry causes the whole import to
/// fail.
pub fn import_catalogue(
    db: &mut Db,
    entries: &[Value],
    options: ImportOptions,
    now: i64,
) -> Result<ImportReport, JobError> {
    match options.dry_run {
        true => rehearse(db, |db| import_all(db, entries, options, now)),
        false => import_all(db, entries, options, now),
    }
}

fn import_all(
    db: &mut Db,
    entries: &[Value],
    options: ImportOptions,
    now: i64,
) -> Result<ImportReport, JobError> {
    if options.deactivate_missing && entries.is_empty() {
        let text = "the catalogue is empty and would deactivate every breach; nothing was changed";
        return Err(JobError::Rejected(text.to_owned()));
    }
    versions::lock_accounts(db)?;
    let mut report = ImportReport::default();
    let mut named = HashSet::new();
    let mut unknown = HashSet::new();
    let mut read = Vec::with_capacity(entries.len());
    for (number, value) in (1..).zip(entries) {
        let entry = entry::read(value).map_err(|error| refused(number, value, &error))?;
        unknown.extend(entry::unknown_members(value).into_iter().map(str::to_owned));
        if !named.insert(entry.name.to_lowercase()) {
            let name = entry.name;
            return Err(JobError::Rejected(format!("entry {number}: {name} occurs twice")));
        }
        let old = breaches::by_name(db, &entry.name)?;
        // Titles only have to be unique after the import, so two breaches can swap theirs.
        if let Some(old) = old.as_ref().filter(|old| old.title != entry.title) {
            breaches::park_title(db, old.id)?;
        }
        read.push((value, entry, old));
    }
    for (value, entry, old) in read {
        take(db, value, entry, old, now, &mut report)?;
    }
    report.unknown_members = unknown.into_iter().collect();
    report.unknown_members.sort();
    if options.deactivate_missing {
        deactivate_missing(db, &named, now, &mut report)?;
    }
    if !options.confirmed && !options.dry_run {
        expect_no_loss(&report)?;
    }
    let news = report.added.len() + report.changed.len() + report.deactivated.len();
    if news > 0 {
        versions::bump_catalogue(db, now)?;
        let [added, changed, deactivated] =
            [report.added.len(), report.changed.len(), report.deactivated.len()];
        let detail = format!("{added} added, {changed} changed, {deactivated} deactivated");
        admin_events::add(db, now, "catalogue import", "catalogue", &detail)?;
    }
    Ok(report)
}

/// Fails if the changes require the operator's confirmation.
fn expect_no_loss(report: &ImportReport) -> Result<(), JobError> {
    let (retired, missing) = (report.retired.len(), report.deactivated.len());
    if retired > 0 {
        let links: i64 = report.retired.iter().map(|(_, links)| links).sum();
        return Err(JobError::Rejected(format!(
            "the catalogue retires {retired} breaches, whose {links} links would be removed \
             permanently; nothing was changed. --dry-run lists them, --yes retires them"
        )));
    }
    if missing > 0 {
        return Err(JobError::Rejected(format!(
            "{missing} breaches would be deactivated; nothing was changed. --dry-run lists them, \
             --yes deactivates them"
        )));
    }
    Ok(())
}

fn refused(number: usize, value: &Value, error: &EntryError) -> JobError {
    let name = value.get("Name").and_then(Value::as_str).unwrap_or("without a name");
    let name = name.replace(entry::is_unprintable, " ");
    JobError::Rejected(format!("entry {number} ({name}): {error}"))
}

fn take(
    db: &mut Db,
    value: &Value,
    mut entry: Breach,
    old: Option<Breach>,
    now: i64,
    report: &mut ImportReport,
) -> Result<(), JobError> {
    if let Some(old) = &old {
        entry::keep_missing(value, old, &mut entry);
        // The links may have been removed, so retiring a breach can't be undone.
        entry.flags.retired |= old.flags.retired;
    }
    let conflict = |error: database::DatabaseError| match error {
        database::DatabaseError::Conflict => JobError::Rejected(format!(
            "{}: another breach has the title {}",
            entry.name, entry.title
        )),
        other => other.into(),
    };
    let Some(old) = old else {
        breaches::insert(db, &entry).map_err(conflict)?;
        report.added.push(entry.name);
        return Ok(());
    };
    let differences = old.differences(&entry);
    if differences.is_empty() {
        report.unchanged += 1;
        return Ok(());
    }
    let later = if entry.modified > old.modified { entry.modified } else { now };
    let changed = Breach {
        id: old.id,
        name: old.name.clone(),
        loaded_count: old.loaded_count,
        active: old.active,
        modified: instant::whole_minute(later).max(entry.added),
        ..entry.clone()
    };
    breaches::update(db, &changed).map_err(conflict)?;
    if changed.flags.retired && !old.flags.retired && changed.loaded_count > 0 {
        report.retired.push((changed.name.clone(), changed.loaded_count));
    }
    report.changed.push((changed.name, differences));
    Ok(())
}

fn deactivate_missing(
    db: &mut Db,
    named: &HashSet<String>,
    now: i64,
    report: &mut ImportReport,
) -> Result<(), JobError> {
    for old in breaches::all(db)? {
        if old.active && !named.contains(&old.name.to_lowercase()) {
            let modified = instant::whole_minute(now).max(old.added);
            breaches::update(db, &Breach { active: false, modified, ..old.clone() })?;
            report.deactivated.push(old.name);
        }
    }
    Ok(())
}
