//! The files of a load and their breaches.

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

/// The breaches of a load, and its files, each with the index of its breach.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The distinct breaches to which the load adds links.
    pub breaches: Vec<Breach>,
    /// The files, in the order in which they are read.
    pub files: Vec<(PathBuf, usize)>,
}

impl Sources {
    /// Creates sources from the files of one breach.
    ///
    /// # Errors
    /// Fails if the breach does not exist or is retired.
    pub fn of_breach(db: &mut Db, name: &str, files: &[PathBuf]) -> Result<Self, JobError> {
        let breaches = vec![open_breach(db, name)?];
        Ok(Self { breaches, files: files.iter().map(|file| (file.clone(), 0)).collect() })
    }

    /// Reads a manifest. Each line has the name of a breach and, after a blank or a comma, a file.
    /// Paths are relative to the folder of the manifest. Empty lines and lines that begin with `#`
    /// are ignored.
    ///
    /// # Errors
    /// Returns the number of the first invalid line.
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
            return Err(JobError::Rejected(format!("{}: no line names a file", path.display())));
        }
        Ok(sources)
    }

    /// Returns the paths of the files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }
}

/// Returns the breach with this name. It must not be retired, because the purge would not remove
/// new links.
pub fn open_breach(db: &mut Db, name: &str) -> Result<Breach, JobError> {
    let found = breaches::by_name(db, name)?
        .ok_or_else(|| JobError::Rejected(format!("there is no breach {name}")))?;
    if found.flags.retired {
        return Err(JobError::Rejected(format!("the breach {name} is retired")));
    }
    Ok(found)
}
