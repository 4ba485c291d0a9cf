//! Looks up passwords without a server.

use std::path::Path;

use anyhow::{Context, bail};

use crate::model::lines::{self, Form};
use crate::model::plaintext::{self, Dialect, Encoding, Line};
use crate::model::{Entry, Kind};
use crate::store::{Corpus, KindFolder};

const DIALECT: Dialect = Dialect { encoding: Encoding::Utf8, with_counts: false };

/// Looks up passwords or hashes in a corpus.
pub struct Lookup {
    corpus: Corpus,
    /// Whether the input lines are hashes rather than passwords.
    hashes: bool,
    buffer: Vec<u8>,
}

impl Lookup {
    /// Creates a lookup in `corpus`. Lines are treated as hashes if `hashes` is true, and as
    /// passwords otherwise.
    pub fn new(corpus: Corpus, hashes: bool) -> Self {
        Self { corpus, hashes, buffer: Vec::new() }
    }

    /// Looks up the password or hash in a line and returns its count.
    ///
    /// # Errors
    /// Returns an error if the corpus is damaged, or the line is invalid.
    pub fn count(&mut self, line: &[u8]) -> anyhow::Result<u32> {
        let kind = self.corpus.kind();
        let hash = self.entry(kind, line)?.hash;
        match self.corpus.find(&hash[..kind.hash_bytes()], &mut self.buffer) {
            Ok(count) => Ok(count.unwrap_or(0)),
            // Keep the prefix out of the message, because it reveals part of the password.
            Err(cause) => bail!("cannot look up in {}: {cause}", self.corpus.path().display()),
        }
    }

    fn entry(&self, kind: Kind, line: &[u8]) -> anyhow::Result<Entry> {
        if self.hashes {
            let entry = lines::line(line, kind, Form::Whole)?;
            return entry.with_context(|| format!("expected a {} hash", kind.label()));
        }
        match plaintext::line(line, DIALECT) {
            Line::Password { bytes, text, .. } => Ok(plaintext::entry(kind, &bytes, &text, 1)),
            Line::Empty | Line::NoCount => Ok(plaintext::entry(kind, b"", "", 1)),
            // SHA-1 is computed over bytes, which may be text in some other encoding.
            Line::NotText(bytes) if kind == Kind::Sha1 => Ok(plaintext::entry(kind, &bytes, "", 1)),
            Line::NotText(_) => bail!("the password is not UTF-8"),
        }
    }
}

/// Opens the corpus file `file`, if given. Otherwise, opens the active corpus of `kind`, or the
/// first active corpus if `kind` is `None`.
///
/// # Errors
/// Returns an error if there is no such file or corpus, or if it is damaged.
pub fn open_corpus(
    file: Option<&Path>,
    kind: Option<Kind>,
    data_dir: &Path,
) -> anyhow::Result<Corpus> {
    if let Some(file) = file {
        let corpus = Corpus::open(file, 0)?;
        if kind.is_some_and(|kind| kind != corpus.kind()) {
            bail!("{} holds {} digests", file.display(), corpus.kind().label());
        }
        return Ok(corpus);
    }
    for kind in Kind::ALL.into_iter().filter(|known| kind.is_none_or(|kind| kind == *known)) {
        let folder = KindFolder::new(data_dir, kind);
        let current = folder.current();
        let current = current
            .with_context(|| format!("cannot read CURRENT of {}", folder.path().display()))?;
        if let Some(path) = current {
            return Ok(Corpus::open(&path, 0)?);
        }
    }
    bail!("no corpus is active in {}", data_dir.display())
}
