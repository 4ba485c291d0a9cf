//! Reads a load's input and reports the progress.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use batch::{
    BoundedReader, ByteCounter, Count, CountingReader, Input, InputStamp, ProgressReporter, Unit,
};

use super::decoding::{self, TextEncoding};
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::store::jobs::Counts;

/// Maximum length of a line with an address, in bytes.
pub const MAX_LINE: usize = 64 * 1024;

/// How standard input is specified on the command line.
const STDIN: &str = "-";

/// Opens a file, or standard input for `-`.
///
/// # Errors
/// Fails if the file can't be opened. The error includes its name.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, JobError> {
    let opened = Input::at(path).and_then(|input| input.open());
    opened.map_err(JobError::file(path.display().to_string()))
}

/// Makes a path absolute, because the job may be resumed from another folder. `-` is left
/// unchanged.
///
/// # Errors
/// Fails if the current folder can't be determined.
pub fn absolute(path: &Path) -> Result<PathBuf, JobError> {
    if path == Path::new(STDIN) {
        return Ok(path.to_owned());
    }
    std::path::absolute(path).map_err(JobError::file(path.display().to_string()))
}

/// Records whether a text contains anything but whitespace.
struct BlankCheck {
    text: Box<dyn Read>,
    has_lines: Rc<Cell<bool>>,
}

impl Read for BlankCheck {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.text.read(buffer)?;
        if !self.has_lines.get() && !buffer[..size].trim_ascii().is_empty() {
            self.has_lines.set(true);
        }
        Ok(size)
    }
}

/// Reports the progress of reading on standard error and, for a job, also in its row.
pub struct JobInput<'c> {
    heartbeat: Option<&'c Heartbeat>,
    bytes: ByteCounter,
    progress: ProgressReporter,
    counts: Counts,
    input: Input,
    /// Changes when the file is written to.
    stamp: InputStamp,
    has_lines: Rc<Cell<bool>>,
}

impl<'c> JobInput<'c> {
    /// Opens an input as decompressed UTF-8.
    ///
    /// # Errors
    /// Fails if the file can't be opened. The error includes its name.
    pub fn open(
        heartbeat: Option<&'c Heartbeat>,
        path: &Path,
        encoding: TextEncoding,
    ) -> Result<(Box<dyn Read>, Self), JobError> {
        let named = || JobError::file(path.display().to_string());
        let input = Input::at(path).map_err(named())?;
        let (length, stamp) = (input.length(), input.stamp().map_err(named())?);
        let bytes = ByteCounter::default();
        // If a file grows faster than we can read it, this must not take forever. That also applies
        // to a file that is still empty.
        let file: Box<dyn Read> = match length {
            Some(length) => Box::new(BoundedReader::new(open(path)?, path, length)),
            None => open(path)?,
        };
        let text = decoding::text(CountingReader::new(file, bytes.clone()), encoding);
        let text = text.map_err(named())?;
        let progress = ProgressReporter::new("reading", Unit::Bytes, length);
        let has_lines = Rc::new(Cell::new(false));
        let text = BlankCheck { text, has_lines: Rc::clone(&has_lines) };
        let counts = Counts::default();
        Ok((Box::new(text), Self { heartbeat, bytes, progress, counts, input, stamp, has_lines }))
    }

    /// Reports the current counts.
    pub fn report(&mut self, counts: Counts) {
        self.counts = counts;
        self.progress.set_with(self.bytes.get(), || details(counts));
        if let Some(heartbeat) = self.heartbeat {
            heartbeat.set(counts);
        }
    }

    /// Reports the current counts every few thousand rows.
    pub fn report_sometimes(&mut self, counts: Counts) {
        self.counts = counts;
        if counts.read & 0x3FFF == 0 {
            self.report(counts);
        }
    }

    /// Finishes reading.
    ///
    /// # Errors
    /// Fails if the file was written to while it was being read, since its end may be missing. Also
    /// fails if the input is blank, since a failed command or download can leave a blank file
    /// behind.
    pub fn finish(mut self) -> Result<(), JobError> {
        self.report(self.counts);
        self.progress.finish();
        let Self { input, stamp, .. } = self;
        if input.stamp().map_err(JobError::file(input.to_string()))? != stamp {
            return Err(JobError::Rejected(format!(
                "{input}: changed while it was read; load it again when it is complete"
            )));
        }
        if self.has_lines.get() {
            return Ok(());
        }
        Err(JobError::Rejected(format!(
            "{input}: contains no data, so nothing was loaded; check how it was created"
        )))
    }
}

/// Formats the details for a progress report.
pub fn details(counts: Counts) -> String {
    let count = |rows: i64| Count(rows.unsigned_abs());
    format!("{} accepted, {} skipped", count(counts.accepted), count(counts.skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_a_length_is_read_to_its_end() {
        let path = Path::new("/proc/self/limits");
        let (mut text, input) = JobInput::open(None, path, TextEncoding::default()).unwrap();
        let mut read = String::new();
        text.read_to_string(&mut read).unwrap();
        assert_eq!(read, std::fs::read_to_string(path).unwrap());
        input.finish().unwrap();
    }

    #[test]
    fn file_is_read_to_its_length_at_the_opening() {
        let folder = testkit::Folder::new();
        for before in ["", "one@example.org\n"] {
            let path = folder.write("list", before);
            let opened = JobInput::open(None, &path, TextEncoding::default());
            let (mut text, input) = opened.unwrap();
            std::fs::write(&path, format!("{before}another@example.org\n")).unwrap();
            let mut read = String::new();
            text.read_to_string(&mut read).unwrap();
            assert_eq!(read, before);
            assert!(matches!(input.finish(), Err(JobError::Rejected(_))));
        }
    }
}
