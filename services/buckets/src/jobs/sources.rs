//! Load sources: files, standard input and bucket listings.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use batch::{BoundedReader, ByteCounter, CountingReader};
use serde::{Deserialize, Serialize};

use super::error::JobError;
use super::inventory::Inventory;
use super::stored_listing::StoredListing;

/// Path for standard input.
pub(super) const STDIN: &str = "-";

/// A source and its state at the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// File path or bucket URL.
    pub path: PathBuf,
    /// Size in bytes. 0 unless it's a regular file.
    pub size: u64,
    /// Last modified, in nanoseconds since 1970. 0 unless it's a regular file.
    pub modified: u64,
    /// The inventory that the file belongs to, if any.
    #[serde(default)]
    pub inventory: Option<Inventory>,
    /// Stored pages of a crawl, to be read instead of the URL.
    #[serde(default)]
    pub stored: Option<StoredListing>,
}

impl Source {
    pub(super) fn of(path: &Path) -> Result<Self, JobError> {
        let failed = |error| JobError::Source { path: path.display().to_string(), error };
        if path == Path::new(STDIN) || url_of(path).is_some() {
            return Ok(Self::at(path));
        }
        if let Some(scheme) = scheme_of(path) {
            return Err(failed(io::Error::other(format!(
                "{scheme} addresses cannot be listed; use https, http, s3 or gs, or load a file"
            ))));
        }
        if !fs::metadata(path).map_err(failed)?.is_file() {
            // A named pipe can only be opened once: its writer fails when the reader closes it. Its
            // modification time changes while it is being read.
            return Ok(Self::at(path));
        }
        // Open the file to find out right away whether it can be read.
        let meta = File::open(path).and_then(|file| file.metadata()).map_err(failed)?;
        let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| since.as_nanos() as u64);
        Ok(Self { size: meta.len(), modified, ..Self::at(path) })
    }

    fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), size: 0, modified: 0, inventory: None, stored: None }
    }

    /// Creates a source for the stored pages of a bucket.
    pub(super) fn of_stored(url: &str, stored: StoredListing) -> Self {
        Self { stored: Some(stored), ..Self::at(Path::new(url)) }
    }

    /// Returns the URL if the source is a bucket.
    pub fn url(&self) -> Option<&str> {
        url_of(&self.path)
    }

    /// Returns `true` if this is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new(STDIN)
    }

    /// Returns the name to show in reports.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn is_file(&self) -> bool {
        self.size > 0 || self.modified > 0
    }

    /// Returns an error if the file has changed since the run started, because the data read so far
    /// might then be inconsistent.
    pub fn check(&self) -> Result<(), JobError> {
        let version = |source: &Self| (source.size, source.modified);
        if self.is_file() && version(&Self::of(&self.path)?) != version(self) {
            return Err(JobError::SourceChanged(self.name()));
        }
        Ok(())
    }

    /// Opens the source, unless it has changed. `read` counts the bytes read. Files are only read
    /// up to their length at the start of the run. Otherwise, reading a file that grows quickly
    /// might never end.
    pub fn open(&self, read: ByteCounter) -> Result<Box<dyn Read>, JobError> {
        if self.is_stdin() {
            return Ok(Box::new(CountingReader::new(io::stdin(), read)));
        }
        self.check()?;
        let failed = |error| JobError::Source { path: self.name(), error };
        let file = File::open(&self.path).map_err(failed)?;
        if !self.is_file() {
            return Ok(Box::new(CountingReader::new(file, read)));
        }
        Ok(Box::new(CountingReader::new(BoundedReader::new(file, &self.path, self.size), read)))
    }
}

/// Returns the path if it's a URL that we can list.
pub(super) fn url_of(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let schemes = ["https://", "http://", "s3://", "gs://"];
    schemes.iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}

/// Returns the scheme if the path looks like a URL.
pub(super) fn scheme_of(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_scheme.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Command;

    use super::*;

    #[test]
    fn file_without_a_length_is_read_to_its_end() {
        let path = Path::new("/proc/self/limits");
        let source = Source::of(path).unwrap();
        assert!(source.size == 0 && source.is_file());
        let mut text = String::new();
        source.open(ByteCounter::default()).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, fs::read_to_string(path).unwrap());
        source.check().unwrap();
    }

    /// Opening the pipe before it is read would wait forever, or lose its data.
    #[test]
    fn named_pipe_is_opened_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let source = Source::of(&path).unwrap();
        assert!(!source.is_file());
        let text = std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&path, "one line\n").unwrap());
            let mut text = String::new();
            source.open(ByteCounter::default()).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        assert_eq!(text, "one line\n");
    }

    #[test]
    fn file_is_read_to_its_length_at_the_start() {
        for before in ["", "one line\n"] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(before.as_bytes()).unwrap();
            let source = Source::of(file.path()).unwrap();
            let mut input = source.open(ByteCounter::default()).unwrap();
            file.write_all(b"another line\n").unwrap();
            let mut text = String::new();
            input.read_to_string(&mut text).unwrap();
            assert_eq!(text, before);
            assert!(matches!(source.check(), Err(JobError::SourceChanged(_))));
        }
    }
}
