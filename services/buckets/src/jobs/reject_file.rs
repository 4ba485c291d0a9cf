//! Writes the files for `--reject`, one with the bad lines and one with the reasons.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::context::JobContext;
use super::error::JobError;

/// First line of a reject file, so that loads can recognise it.
const HEADER: &[u8] = b"{\"rejected\":true}\n";

/// Lengths of the reject file and the reasons file at a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectLengths {
    lines: u64,
    reasons: u64,
}

/// Writes bad lines to a file, so that they can be fixed and loaded again. The reason and position
/// of each line are in `FILE.reasons`.
pub struct RejectFile {
    lines: BufWriter<File>,
    reasons: BufWriter<File>,
    lengths: RejectLengths,
    /// Number of lines in the reject file.
    count: u64,
}

#[derive(Serialize)]
struct Reason<'a> {
    /// Line number in the reject file. `None` if the rest of a source couldn't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    source: &'a str,
    position: u64,
    reason: &'a str,
}

impl RejectFile {
    /// Opens both files at the end. When resuming, cuts them off at the checkpoint, since the lines
    /// after that will be read again.
    pub fn open(path: &Path, resumed: Option<RejectLengths>) -> Result<Self, JobError> {
        let reasons_path = reasons_of(path);
        let open = |path: &Path, length: Option<u64>| -> Result<(File, u64), JobError> {
            let failed = |error| JobError::Source { path: path.display().to_string(), error };
            let file = open_at_end(path).map_err(failed)?;
            let there = file.metadata().map_err(failed)?.len();
            match length {
                Some(length) if length < there => {
                    file.set_len(length).map_err(failed)?;
                    Ok((file, length))
                }
                _ => Ok((file, there)),
            }
        };
        let (lines, line_bytes) = open(path, resumed.map(|lengths| lengths.lines))?;
        let (reasons, reason_bytes) = open(&reasons_path, resumed.map(|lengths| lengths.reasons))?;
        Ok(Self {
            count: if line_bytes > 0 { lines_of(path)? } else { 0 },
            lines: BufWriter::new(lines),
            reasons: BufWriter::new(reasons),
            lengths: RejectLengths { lines: line_bytes, reasons: reason_bytes },
        })
    }

    /// Adds a line and its reason, or only the reason if there is no line.
    pub fn add(
        &mut self,
        source: &str,
        position: u64,
        reason: &str,
        content: &[u8],
    ) -> Result<(), JobError> {
        let mut line = None;
        if !content.is_empty() {
            if self.lengths.lines == 0 {
                self.lines.write_all(HEADER)?;
                self.lengths.lines += HEADER.len() as u64;
                self.count += 1;
            }
            self.lines.write_all(content)?;
            self.lines.write_all(b"\n")?;
            self.lengths.lines += content.len() as u64 + 1;
            self.count += 1;
            line = Some(self.count);
        }
        let reason = serde_json::to_vec(&Reason { line, source, position, reason });
        let reason = reason.map_err(io::Error::from)?;
        self.reasons.write_all(&reason)?;
        self.reasons.write_all(b"\n")?;
        self.lengths.reasons += reason.len() as u64 + 1;
        Ok(())
    }

    /// Syncs both files to disk, because their lengths are about to be recorded in a checkpoint.
    pub fn flush(&mut self) -> Result<(), JobError> {
        for file in [&mut self.lines, &mut self.reasons] {
            file.flush()?;
            // Devices and pipes can't be synced.
            if file.get_ref().metadata()?.is_file() {
                file.get_ref().sync_data()?;
            }
        }
        Ok(())
    }

    /// Returns the lengths of both files.
    pub fn lengths(&self) -> RejectLengths {
        self.lengths
    }
}

/// Opens a file for appending. New files get the default permissions, like any other file the
/// operator creates. They can contain names that aren't public, but so can the sources.
fn open_at_end(path: &Path) -> io::Result<File> {
    match OpenOptions::new().append(true).create_new(true).open(path) {
        Ok(file) => shell::follow_umask(&file).map(|()| file),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().append(true).create(true).open(path)
        }
        Err(error) => Err(error),
    }
}

/// Returns an error if writing to this path would damage the database or the index.
pub fn refuse_own_data(context: &JobContext, path: &Path) -> Result<(), JobError> {
    let refuse = |path: &Path, what: &str| {
        let path = path.display();
        Err(JobError::Invalid(format!("--reject: {path} is {what}: use another file")))
    };
    let outputs = [path.to_owned(), reasons_of(path)];
    for output in &outputs {
        let place = place_of(output);
        if let Some(index) = context.generations.folder()
            && place.starts_with(place_of(index))
        {
            return refuse(output, "in the folder of the index");
        }
        let Some(database) = context.pools.file() else { continue };
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut file = OsString::from(database);
            file.push(suffix);
            let file = PathBuf::from(file);
            let is_same =
                place == place_of(&file) || batch::refuse_overwriting(&[output], [&file]).is_err();
            if is_same {
                return refuse(output, "part of the database");
            }
        }
    }
    Ok(())
}

/// Resolves a path even if it doesn't exist.
fn place_of(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // Linux also follows up to 40 symbolic links.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map_or(target.clone(), |folder| folder.join(target));
    }
    if let Ok(place) = fs::canonicalize(&path) {
        return place;
    }
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Returns the path of a reject file's reasons file.
pub fn reasons_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".reasons");
    PathBuf::from(name)
}

fn lines_of(path: &Path) -> Result<u64, JobError> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut count = 0;
    loop {
        let available = file.fill_buf()?;
        if available.is_empty() {
            return Ok(count);
        }
        count += memchr::memchr_iter(b'\n', available).count() as u64;
        let length = available.len();
        file.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reject_file_may_be_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        let mut file = RejectFile::open(&path, None).unwrap();
        file.add("a", 1, "why", b"first").unwrap();
        file.flush().unwrap();
    }

    #[test]
    fn resumed_run_truncates_to_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad");
        let mut file = RejectFile::open(&path, None).unwrap();
        file.add("a", 1, "why", b"first\xff").unwrap();
        let checkpoint = file.lengths();
        file.add("a", 2, "why", b"second").unwrap();
        drop(file);

        let mut file = RejectFile::open(&path, Some(checkpoint)).unwrap();
        file.add("a", 2, "how", b"second").unwrap();
        file.add("a", 0, "it ends", b"").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), [HEADER, b"first\xff\nsecond\n"].concat());
        let reasons = fs::read_to_string(folder.path().join("bad.reasons")).unwrap();
        let reasons: Vec<&str> = reasons.lines().collect();
        assert_eq!(
            reasons,
            [
                r#"{"line":2,"source":"a","position":1,"reason":"why"}"#,
                r#"{"line":3,"source":"a","position":2,"reason":"how"}"#,
                r#"{"source":"a","position":0,"reason":"it ends"}"#,
            ]
        );
    }
}
