//! `address verify-removed`: looks for traces of a removed address.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use domain::EmailAddress;

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::model::{AccountKey, OptOut};
use crate::store::{accounts, jobs, mail_domains, opt_outs, traces, unused_domains};

/// Traces of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Remains {
    /// Columns, files and parts of files that contain the address or its key, along with the number
    /// of matches.
    pub found: Vec<(String, u64)>,
    /// Whether the address's domain is still stored even though no account uses it.
    pub unused_domain: bool,
    /// Whether the digest is kept on purpose, by an opt-out or by unfinished loads.
    pub kept_digest: bool,
    /// Unfinished loads that keep the digest so that they don't add the address, or a link that was
    /// removed, again.
    pub keeping_jobs: Vec<i64>,
    /// The opt-out that keeps the digest.
    #[serde(skip)]
    pub opt_out: Option<OptOut>,
    /// Files that were searched.
    pub files: Vec<PathBuf>,
}

impl Remains {
    /// Returns `true` if nothing is left, except perhaps a digest that is kept on purpose.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty() && !self.unused_domain
    }
}

/// Searches for an address in the tables and runs, in the raw SQLite file (including free pages and
/// the write-ahead log), and in other files and folders such as logs.
pub fn find_remains(
    context: &JobContext,
    address: &EmailAddress,
    paths: &[PathBuf],
) -> Result<Remains, JobError> {
    let mut db = context.pools.connect()?;
    let mut remains = Remains::default();
    if accounts::find(&mut db, address)?.is_some() {
        remains.found.push(("account".to_owned(), 1));
    }
    let key = AccountKey::of(&address.sha1()).0;
    let checkpoints = jobs::with_key(&mut db, key)?;
    if checkpoints > 0 {
        remains.found.push(("job.cursor".to_owned(), u64::try_from(checkpoints).unwrap_or(0)));
    }
    for (place, rows) in traces::with_text(&mut db, address.as_str())? {
        remains.found.push((place, u64::try_from(rows).unwrap_or(0)));
    }
    remains.unused_domain = match mail_domains::id(&mut db, address.domain())? {
        Some(id) => !unused_domains::is_used(&mut db, id)?,
        None => false,
    };
    let digest = address.sha1();
    remains.opt_out = opt_outs::get(&mut db, &digest)?;
    remains.keeping_jobs = jobs::keeping_digest(&mut db, &digest)?;
    remains.kept_digest = remains.opt_out.is_some() || !remains.keeping_jobs.is_empty();
    traces::clear_log_or_warn(&mut db)?;
    let database = traces::file(&mut db)?;
    drop(db);
    let text = address.as_str().as_bytes().to_ascii_lowercase();
    if let Some(path) = database {
        // The account key as encoded in the table, and as encoded in checkpoints and blocks of
        // runs.
        let (table, run) = (key.to_be_bytes(), key.to_le_bytes());
        let needles = [text.as_slice(), &table, &run];
        for suffix in ["", "-wal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let name = PathBuf::from(name);
            if name.exists() {
                look_into(&name, &needles, &mut remains)?;
            }
        }
    }
    for path in paths {
        for file in files(path).map_err(JobError::file(path.display().to_string()))? {
            look_into(&file, &[&text], &mut remains)?;
        }
    }
    Ok(remains)
}

fn look_into(path: &Path, needles: &[&[u8]], remains: &mut Remains) -> Result<(), JobError> {
    let name = path.display().to_string();
    let found = File::open(path).and_then(|file| occurrences(file, needles));
    let found = found.map_err(JobError::file(name.clone()))?;
    if found > 0 {
        remains.found.push((name, found));
    }
    remains.files.push(path.to_owned());
    Ok(())
}

/// Returns `path` if it's a file, or all files in the folder and its subfolders.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in path.read_dir()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found.extend(files(&entry.path())?);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Number of bytes to read at once.
const PIECE: usize = 1 << 20;

/// Counts matches of several byte strings. Only the first one is matched regardless of case.
fn occurrences(mut input: impl Read, needles: &[&[u8]]) -> io::Result<u64> {
    let longest = needles.iter().map(|needle| needle.len()).max().unwrap_or(1);
    let (mut buffer, mut count) = (Vec::with_capacity(PIECE + longest), 0);
    loop {
        let kept = buffer.len();
        if (&mut input).take(PIECE as u64).read_to_end(&mut buffer)? == 0 {
            return Ok(count);
        }
        let lower = buffer.to_ascii_lowercase();
        for (number, needle) in needles.iter().enumerate() {
            let bytes = if number == 0 { &lower } else { &buffer };
            // Matches that end within the bytes kept from the previous piece have already been
            // counted.
            let first = (kept + 1).saturating_sub(needle.len());
            count += memchr::memmem::find_iter(&bytes[first..], needle).count() as u64;
        }
        let start = buffer.len().saturating_sub(longest - 1);
        buffer.drain(..start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_occurrence_is_counted_once_wherever_it_is() {
        let needles: [&[u8]; 2] = [b"ada@corp.example", b"\x01\xffKey"];
        for place in [0, 1, PIECE - 15, PIECE - 3, PIECE, PIECE + 7, 2 * PIECE - 1] {
            let mut bytes = vec![b'a'; 2 * PIECE + 100];
            bytes[place..place + 16].copy_from_slice(b"ADA@corp.example");
            let end = bytes.len();
            bytes[end - 5..].copy_from_slice(b"\x01\xffKey");
            assert_eq!(occurrences(bytes.as_slice(), &needles).unwrap(), 2, "{place}");
        }
        assert_eq!(occurrences(&b"ada@corp.exampl"[..], &needles).unwrap(), 0);
    }
}
