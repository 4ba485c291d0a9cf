//! Identifies the input file of an interrupted job.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use batch::Input;
use domain::Sha1Digest;

use super::error::JobError;

const MIB: u64 = 1 << 20;

/// Size, modification time, and digests of the first and the last MiB.
pub fn of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let changed = about.modified()?.duration_since(UNIX_EPOCH).map_or(0, |span| span.as_nanos());
    let first = digest(&mut file)?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(MIB)))?;
    let last = digest(&mut file)?;
    Ok(format!("{} {changed} {first} {last}", about.len()))
}

fn digest(file: &mut File) -> io::Result<Sha1Digest> {
    let mut bytes = Vec::new();
    file.take(MIB).read_to_end(&mut bytes)?;
    Ok(Sha1Digest::of(bytes))
}

/// The joint fingerprint of several files. The fingerprint of standard input or another stream,
/// which can be read only once, matches no other run.
///
/// # Errors
/// Returns the name of a file that cannot be read.
pub fn of_all(paths: &[std::path::PathBuf], now: i64) -> Result<String, JobError> {
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        let named = || JobError::file(path.display().to_string());
        match Input::at(path).map_err(named())? {
            Input::Stdin | Input::Stream(_) => {
                parts.push(format!("stream {} {now}", std::process::id()));
            }
            Input::File(_) | Input::Folder(_) => parts.push(of(path).map_err(named())?),
        }
    }
    Ok(parts.join("; "))
}
