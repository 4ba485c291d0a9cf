//! Exports a corpus as a list from which it can be rebuilt.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use anyhow::Context;
use batch::{AtomicFile, ProgressReporter, Unit};
use domain::HashPrefix;

use super::report::Exported;
use crate::model::{Bucket, PREFIXES, render};
use crate::store::Corpus;

/// Writes `HASH:COUNT` lines to a file, in order.
///
/// # Errors
/// Returns an error if the corpus is damaged, or the file is not writable.
pub fn export_hashes(corpus: &Corpus, path: &Path) -> anyhow::Result<Exported> {
    let name = path.display().to_string();
    let unwritable = || format!("cannot write {name}");
    batch::refuse_overwriting(&[path], [corpus.path()])?;
    // Write straight to a pipe or device, but replace a file atomically.
    let prefixes = if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = OpenOptions::new().write(true).open(path).with_context(unwritable)?;
        write_hashes(corpus, &mut BufWriter::with_capacity(1 << 20, file), &name)?
    } else {
        // Resolve symbolic links, so that the file they point to is replaced instead of the link.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = place.parent().filter(|folder| *folder != Path::new(""));
        let file = AtomicFile::create_in(folder.unwrap_or(Path::new(".")));
        let file = file.with_context(unwritable)?;
        shell::follow_umask(file.file()).with_context(unwritable)?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let prefixes = write_hashes(corpus, &mut file, &name)?;
        let file = file.into_inner().map_err(IntoInnerError::into_error);
        file.and_then(|file| file.commit(&place)).with_context(unwritable)?;
        prefixes
    };
    Ok(Exported::new(path.to_owned(), corpus.header(), prefixes))
}

/// Writes `HASH:COUNT` lines to standard output, in order.
///
/// # Errors
/// Returns an error if the corpus is damaged, or standard output is closed.
pub fn export_to_stdout(corpus: &Corpus) -> anyhow::Result<()> {
    batch::refuse_overwriting(&[Path::new("/dev/stdout")], [corpus.path()])?;
    write_hashes(corpus, &mut BufWriter::new(io::stdout().lock()), "standard output").map(drop)
}

/// Writes `HASH:COUNT` lines and returns the number of non-empty prefixes.
fn write_hashes(corpus: &Corpus, out: &mut impl Write, name: &str) -> anyhow::Result<u32> {
    let unwritable = || format!("cannot write {name}");
    let progress =
        ProgressReporter::new("exporting", Unit::Bytes, Some(corpus.header().file_length));
    let (mut buffer, mut lines, mut prefixes) = (Vec::new(), Vec::new(), 0);
    for value in 0..PREFIXES as u32 {
        let Some(prefix) = HashPrefix::from_value(value) else { continue };
        let text = corpus.sound_bytes(prefix, &mut buffer).and_then(|bytes| {
            progress.add(bytes.len() as u64);
            Ok(render::text(&Bucket::parse(corpus.kind(), bytes)?)?)
        });
        let text = text.map_err(|cause| corpus.problem(value, cause))?;
        if text.is_empty() {
            continue;
        }
        let prefix = prefix.to_string();
        lines.clear();
        for line in text.split(|byte| *byte == b'\n') {
            lines.extend_from_slice(prefix.as_bytes());
            lines.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
            lines.push(b'\n');
        }
        out.write_all(&lines).with_context(unwritable)?;
        prefixes += 1;
    }
    progress.finish();
    out.flush().with_context(unwritable)?;
    Ok(prefixes)
}
