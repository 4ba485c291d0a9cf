//! Opens input lists.

use std::io::{self, BufRead, Cursor, Read};

use anyhow::{Context, bail};
use batch::Input;

use super::first_bytes;
use crate::model::Kind;
use crate::model::lines::{self, Form, LineError};
use crate::model::plaintext::Dialect;

/// Number of leading bytes of a stream to examine when detecting its kind.
const HEAD: u64 = 64 << 10;

/// An input's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// `HASH:COUNT` lines.
    Hashes,
    /// One file per prefix, in the service's format.
    Folder,
    /// One password per line.
    Plaintext,
}

/// How to read the lines of all inputs.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether to count and skip invalid lines.
    pub lenient: bool,
    /// The format for password lists.
    pub dialect: Dialect,
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{input}, line {line}: {cause}")]
pub struct BadLine {
    /// The file.
    pub input: String,
    /// The line number, starting at 1.
    pub line: u64,
    /// The cause.
    pub cause: LineError,
}

/// Returns the input for a path given on the command line.
///
/// # Errors
/// Returns an error if the path does not exist.
pub fn input_at(path: &std::path::Path) -> anyhow::Result<Input> {
    Input::at(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Runs `read` on an input. Fails if the file changes in the meantime, because a list that is still
/// being written is incomplete.
///
/// # Errors
/// Returns an error if the file changed, or any error from `read`.
pub fn unchanged<T>(input: &Input, read: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let stamp = || input.stamp().with_context(|| format!("cannot read {input}"));
    let before = stamp()?;
    let done = read()?;
    if stamp()? != before {
        bail!("{input} changed while it was read; try again when it is complete");
    }
    Ok(done)
}

/// Opens a list at its first line, skipping a byte order mark.
///
/// # Errors
/// Returns an error if the list cannot be opened, is a folder, is compressed, or is not UTF-8 text.
pub fn open(input: &Input) -> anyhow::Result<Box<dyn Read + Send>> {
    if matches!(input, Input::Folder(_)) {
        bail!("{input} is a folder; use --input-format folder");
    }
    let unreadable = || format!("cannot read {input}");
    let mut reader = input.open().with_context(unreadable)?;
    let mut head = Vec::new();
    let read = reader.by_ref().take(first_bytes::LOOKED_AT as u64).read_to_end(&mut head);
    read.with_context(unreadable)?;
    let mark = first_bytes::check(&input.to_string(), &head)?;
    Ok(Box::new(Cursor::new(head.split_off(mark)).chain(reader)))
}

/// Opens a hash list and detects its kind from the first digest.
///
/// # Errors
/// Returns an error if the list cannot be read or is not of the requested kind.
pub fn open_hashes(
    input: &Input,
    wanted: Option<Kind>,
) -> anyhow::Result<(Box<dyn Read + Send>, Option<Kind>)> {
    let mut reader = open(input)?;
    let mut head = Vec::new();
    let read = reader.by_ref().take(HEAD).read_to_end(&mut head);
    read.with_context(|| format!("cannot read {input}"))?;
    let found = lines::kind_of(&head, Form::Whole);
    match (wanted, found) {
        (Some(wanted), Some(found)) if wanted != found => {
            bail!("{input} contains {} digests, not {}", found.label(), wanted.label());
        }
        (None, None) => no_digest(input, &head)?,
        _ => {}
    }
    Ok((Box::new(Cursor::new(head).chain(reader)), wanted.or(found)))
}

/// Waits for the first lines on standard input, and detects the kind of hash list from them. The
/// lines remain unread.
///
/// # Errors
/// Returns an error if standard input cannot be read or does not begin with a digest.
pub fn kind_of_stdin() -> anyhow::Result<Option<Kind>> {
    let (input, mut stdin) = (Input::Stdin, io::stdin().lock());
    let head = stdin.fill_buf().with_context(|| format!("cannot read {input}"))?;
    let head = &head[first_bytes::check(&input.to_string(), head)?..];
    // The last line may be incomplete, unless there is only one.
    let complete = head.iter().rposition(|byte| *byte == b'\n').map_or(head, |end| &head[..end]);
    let found = lines::kind_of(complete, Form::Whole);
    if found.is_none() {
        no_digest(&input, complete)?;
    }
    Ok(found)
}

/// Returns an error for the first line that should contain a digest. An empty list has no such
/// line, so it isn't an error.
fn no_digest(input: &Input, head: &[u8]) -> anyhow::Result<()> {
    let mut lines = head.split(|byte| *byte == b'\n');
    match lines.position(|line| !line.trim_ascii().is_empty()) {
        Some(at) => bail!(
            "{input}, line {}: expected a digest of 40 (SHA-1) or 32 (NTLM) hexadecimal \
             characters; for a list of passwords, use --input-format plaintext",
            at + 1
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_that_changes_while_it_is_read_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let input = Input::at(file.path()).unwrap();
        assert_eq!(unchanged(&input, || Ok(1)).unwrap(), 1);
        let write = || Ok(std::fs::write(file.path(), "more")?);
        let refused = unchanged(&input, write).unwrap_err().to_string();
        assert!(refused.contains("changed while it was read"), "{refused}");
    }
}
