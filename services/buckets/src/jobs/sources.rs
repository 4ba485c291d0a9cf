//! Sources of a load: files, standard input and listings of buckets.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use batch::{ByteCounter, CountingReader};
use serde::{Deserialize, Serialize};

use super::error::JobError;
use super::inventory::{self, CHECKSUM, Inventory};

/// Characters of a path in a notice.
const LONGEST_SHOWN: usize = 160;
/// Name of standard input.
const STDIN: &str = "-";

/// A source as of the beginning of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Path or URL.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    /// The inventory to which the file belongs.
    #[serde(default)]
    pub inventory: Option<Inventory>,
}

impl Source {
    fn of(path: &Path) -> Result<Self, JobError> {
        let failed = |error| JobError::Source { path: path.display().to_string(), error };
        if path == Path::new(STDIN) || url_of(path).is_some() {
            return Ok(Self { path: path.to_owned(), size: 0, modified: 0, inventory: None });
        }
        // Opening it checks early whether it is readable.
        let meta = File::open(path).and_then(|file| file.metadata()).map_err(failed)?;
        if !meta.is_file() {
            // The modification time of a pipe changes while it is read.
            return Ok(Self { path: path.to_owned(), size: 0, modified: 0, inventory: None });
        }
        let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| since.as_nanos() as u64);
        Ok(Self { path: path.to_owned(), size: meta.len(), modified, inventory: None })
    }

    /// Returns the URL if the source is a bucket.
    pub fn url(&self) -> Option<&str> {
        url_of(&self.path)
    }

    /// Returns true if the source is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new(STDIN)
    }

    /// Returns the name for reports.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Fails if the file has changed since the run began, because then what was read may not be a
    /// consistent listing.
    pub fn check(&self) -> Result<(), JobError> {
        let is_file = self.size > 0 || self.modified > 0;
        let version = |source: &Self| (source.size, source.modified);
        if is_file && version(&Self::of(&self.path)?) != version(self) {
            return Err(JobError::SourceChanged(self.name()));
        }
        Ok(())
    }

    /// Opens the source if it has not changed. `read` counts its bytes.
    pub fn open(&self, read: ByteCounter) -> Result<Box<dyn Read>, JobError> {
        if self.is_stdin() {
            return Ok(Box::new(CountingReader::new(std::io::stdin(), read)));
        }
        self.check()?;
        let failed = |error| JobError::Source { path: self.name(), error };
        let inner = File::open(&self.path).map_err(failed)?;
        Ok(Box::new(CountingReader::new(inner, read)))
    }
}

/// Returns the sources for paths of a command. Folders are read recursively in order of names.
/// Files that begin with a dot are skipped silently; pipes, sockets, devices, broken links and
/// circular links are skipped with a notice.
pub fn sources_of(paths: &[PathBuf]) -> Result<Vec<Source>, JobError> {
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut Vec::new(), &mut sources)?;
        } else {
            add(path, &mut sources)?;
        }
    }
    let of_inventories: HashSet<PathBuf> =
        sources.iter().filter(|one| one.inventory.is_some()).map(|one| one.path.clone()).collect();
    sources.retain(|one| one.inventory.is_some() || !of_inventories.contains(&one.path));
    if sources.is_empty() {
        return Err(JobError::Invalid("there is nothing to load".to_owned()));
    }
    Ok(sources)
}

/// Adds a file, or the files of the inventory whose manifest it is.
fn add(path: &Path, sources: &mut Vec<Source>) -> Result<(), JobError> {
    let Some((inventory, files)) = inventory::manifest(path)? else {
        sources.push(Source::of(&absolute(path)?)?);
        return Ok(());
    };
    for file in files {
        let file = fs::canonicalize(file)?;
        sources.push(Source { inventory: Some(inventory.clone()), ..Source::of(&file)? });
    }
    Ok(())
}

/// Adds the files of a folder. `above` has the resolved parent folders.
fn walk(
    folder: &Path,
    above: &mut Vec<PathBuf>,
    sources: &mut Vec<Source>,
) -> Result<(), JobError> {
    let failed = |error| JobError::Source { path: folder.display().to_string(), error };
    let place = fs::canonicalize(folder).map_err(failed)?;
    if above.contains(&place) {
        tell_of_skipped(folder, "it is a circular link");
        return Ok(());
    }
    above.push(place);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden || path.file_name().is_some_and(|name| name == CHECKSUM) {
            continue;
        }
        match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => walk(&path, above, sources)?,
            Ok(meta) if meta.is_file() => add(&path, sources)?,
            // Opening a pipe would wait for a writer.
            Ok(_) => tell_of_skipped(&path, "it is neither a file nor a folder"),
            Err(error) if path.is_symlink() && error.kind() != ErrorKind::PermissionDenied => {
                tell_of_skipped(&path, "the link is broken");
            }
            Err(error) => return Err(JobError::Source { path: path.display().to_string(), error }),
        }
    }
    above.pop();
    Ok(())
}

fn tell_of_skipped(path: &Path, reason: &str) {
    let shown: String = path.display().to_string().chars().take(LONGEST_SHOWN).collect();
    log::warn!(target: "notice", "{shown} is skipped: {reason}");
}

/// Returns a path as text if it is the URL of a bucket.
fn url_of(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let schemes = ["https://", "http://", "s3://", "gs://"];
    schemes.iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}

/// Makes a path absolute, because a run may be resumed in another folder.
fn absolute(path: &Path) -> Result<PathBuf, JobError> {
    if path == Path::new(STDIN) || url_of(path).is_some() {
        Ok(path.to_owned())
    } else {
        Ok(std::path::absolute(path)?)
    }
}
