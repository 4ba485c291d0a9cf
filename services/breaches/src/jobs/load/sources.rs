//! The files and breaches of a load.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use database::Db;

use super::input;
use crate::jobs::error::JobError;
use crate::model::Breach;
use crate::store::breaches;

/// Maximum size of a manifest in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A load's breaches and files.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Breaches that the load adds links to, without duplicates.
    pub breaches: Vec<Breach>,
    /// Files in reading order, each with the index of its breach.
    pub files: Vec<(PathBuf, usize)>,
}

impl Sources {
    /// Returns the sources of a load into a single breach.
    ///
    /// # Errors
    /// Fails if the breach doesn't exist or is retired.
    pub fn of_breach(db: &mut Db, name: &str, files: &[PathBuf]) -> Result<Self, JobError> {
        let breaches = vec![open_breach(db, name)?];
        Ok(Self { breaches, files: files.iter().map(|file| (file.clone(), 0)).collect() })
    }

    /// Reads a manifest. Each line has a breach name and a file, separated by whitespace or a
    /// comma. Paths are relative to the folder of the manifest. Empty lines and lines that start
    /// with `#` are ignored.
    ///
    /// # Errors
    /// Fails at the first invalid line and reports its number.
    pub fn of_manifest(db: &mut Db, path: &Path) -> Result<Self, JobError> {
        let named = || JobError::file(path.display().to_string());
        let mut text = String::new();
        input::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(named())?;
        if text.len() as u64 > MAX_BYTES {
            return Err(JobError::Rejected(format!("{}: more than 64 MiB", path.display())));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut sources, mut places) =
            (Self { breaches: Vec::new(), files: Vec::new() }, BTreeMap::new());
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| {
                JobError::Rejected(format!("{}: line {number}: {what}", path.display()))
            };
            let Some((name, file)) = line.split_once([' ', '\t', ',']) else {
                return Err(wrong("a breach and a file are required".to_owned()));
            };
            if breaches::by_name(db, name)?.is_none() {
                // Don't show any of the line, because the file could be a list with secrets.
                return Err(wrong("there is no such breach".to_owned()));
            }
            let found = open_breach(db, name).map_err(|error| match error {
                JobError::Rejected(what) => wrong(what),
                other => other,
            })?;
            let file = folder.join(file.trim());
            if !file.is_file() {
                return Err(wrong(format!("there is no file {}", file.display())));
            }
            let place = *places.entry(found.id).or_insert(sources.breaches.len());
            if place == sources.breaches.len() {
                sources.breaches.push(found);
            }
            sources.files.push((file, place));
        }
        if sources.files.is_empty() {
            return Err(JobError::Rejected(format!("{}: no line contains a file", path.display())));
        }
        Ok(sources)
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }
}

/// Looks up a breach to load into. It must not be retired, because its new links might never be
/// purged.
pub fn open_breach(db: &mut Db, name: &str) -> Result<Breach, JobError> {
    let found = breaches::by_name(db, name)?
        .ok_or_else(|| JobError::Rejected(format!("there is no breach {name}")))?;
    if found.flags.retired {
        return Err(JobError::Rejected(format!("the breach {name} is retired")));
    }
    Ok(found)
}
