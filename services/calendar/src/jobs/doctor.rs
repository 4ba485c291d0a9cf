//! `doctor`: checks that the database and the media folder are consistent. Doesn't change anything.

use std::collections::HashSet;
use std::fmt;
use std::io;

use database::{DatabaseError, Db, structural_faults};
use serde::Serialize;

use crate::state::State;
use crate::store::{checks, read_transactions, sql, transfer};

/// An erased image's file must be deleted within this number of seconds.
const REMOVAL_SECONDS: i64 = 3600;

/// The findings. If the calendar is sound, all problem counts are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Whether no problems were found.
    pub is_sound: bool,
    pub events: i64,
    pub venues: i64,
    pub organizers: i64,
    pub terms: i64,
    pub images: i64,
    pub users: i64,
    /// Number of files in the media folder.
    pub files: u64,
    /// Structural damage in the database file.
    pub damages: i64,
    /// References to rows that don't exist.
    pub dangling: i64,
    /// Image files that are missing from the media folder.
    pub missing_files: u64,
    /// Image files whose content doesn't match the hash in their name.
    pub damaged_files: u64,
    /// Files that no image uses. A file is stored shortly before its image's row, and might exist
    /// for up to an hour after it, so recent files don't count.
    pub orphan_files: u64,
    /// Categories and tags with a wrong event count.
    pub wrong_counts: i64,
    /// Links with an outdated copy of the event's start.
    pub wrong_starts: i64,
    /// Events whose search text or list columns don't match their fields.
    pub wrong_index: i64,
    /// Redirects to rows that no longer exist.
    pub dead_redirects: i64,
    /// Whether an export was only partially loaded.
    pub is_unfinished: bool,
}

impl Findings {
    fn judged(self) -> Findings {
        let faults = self.damages + self.dangling + self.wrong_counts + self.wrong_starts;
        let faults = faults + self.wrong_index + self.dead_redirects;
        let files = self.missing_files + self.damaged_files + self.orphan_files;
        Findings { is_sound: faults == 0 && files == 0 && !self.is_unfinished, ..self }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Findings { events, venues, organizers, terms, images, users, files, .. } = self;
        writeln!(
            f,
            "{events} events, {venues} venues, {organizers} organizers, {terms} categories and tags, {images} \
             images, {users} users"
        )?;
        writeln!(
            f,
            "database: {} faults, {} dangling references, {} wrong term counts, {} links with a \
             wrong start, {} events with a wrong index, {} redirects to nothing",
            self.damages,
            self.dangling,
            self.wrong_counts,
            self.wrong_starts,
            self.wrong_index,
            self.dead_redirects
        )?;
        write!(
            f,
            "media: {files} files, {} missing, {} damaged, {} without an image",
            self.missing_files, self.damaged_files, self.orphan_files
        )?;
        match self.is_unfinished {
            true => write!(
                f,
                "\nthe load of an export has not finished; run `calendar load FILE` again"
            ),
            false => Ok(()),
        }
    }
}

/// Runs all checks.
///
/// # Errors
/// Returns an error if the database fails, or the media folder cannot be read.
pub fn examine(state: &State) -> anyhow::Result<Findings> {
    let mut db = state.pools.connect()?;
    // Report structural damage first, because reading damaged rows might fail.
    let faults = structural_faults(&mut db)?;
    faults.iter().for_each(|fault| log::error!("{fault}"));
    let (mut found, counted) = read_transactions::read_transaction(&mut db, |db| {
        sql::without_idle_timeout(db)?;
        let mut found = Findings::default();
        rows(db, &mut found)?;
        files(state, db, &mut found)?;
        // These also show up as dangling references, so count them only once.
        let counted = checks::dangling_structure(db)?;
        anyhow::Ok((found, counted))
    })?;
    let faults = i64::try_from(faults.len()).unwrap_or(i64::MAX);
    found.damages = faults.saturating_sub(counted).max(0);
    Ok(found.judged())
}

fn rows(db: &mut Db, found: &mut Findings) -> Result<(), DatabaseError> {
    for (table, count) in [
        ("events", &mut found.events),
        ("venues", &mut found.venues),
        ("organizers", &mut found.organizers),
        ("terms", &mut found.terms),
        ("images", &mut found.images),
        ("users", &mut found.users),
    ] {
        *count = checks::rows(db, table)?;
    }
    found.dangling = checks::dangling(db)?;
    found.wrong_counts = checks::wrong_counts(db)?;
    found.wrong_starts = checks::wrong_starts(db)?;
    found.wrong_index = checks::wrong_index(db)?;
    found.dead_redirects = checks::dead_redirects(db)?;
    found.is_unfinished = transfer::unfinished(db)?.is_some();
    Ok(())
}

/// Compares the files in the media folder with the image rows.
fn files(state: &State, db: &mut Db, found: &mut Findings) -> anyhow::Result<()> {
    let now = state.clock.unix();
    let erased = checks::erased_files(db, now - REMOVAL_SECONDS)?;
    let mut expected: HashSet<String> = erased.into_iter().collect();
    let mut last = String::new();
    loop {
        let names = transfer::files(db, &last)?;
        let Some(end) = names.last() else { break };
        last.clone_from(end);
        for name in names {
            let (fault, count) = match state.media.is_sound(&name) {
                Ok(true) => ("", &mut 0),
                Ok(false) => ("damaged", &mut found.damaged_files),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    ("missing", &mut found.missing_files)
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    ("damaged", &mut found.damaged_files)
                }
                Err(error) => return Err(error.into()),
            };
            if !fault.is_empty() {
                *count += 1;
                let ids = checks::images_of_file(db, &name)?;
                let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
                log::error!("the file {name} of image {} is {fault}", ids.join(", "));
            }
            expected.insert(name);
        }
    }
    state.media.each_file(now, |name, is_recent| {
        found.files += 1;
        // A recently stored file's row might not be visible yet.
        if !is_recent && !expected.contains(name) {
            found.orphan_files += 1;
            log::error!("the file {name} is not used by any image");
        }
    })?;
    Ok(())
}
