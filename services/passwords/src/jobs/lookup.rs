//! Looks passwords up without a server.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use batch::{BoundedLines, Line};

use super::chunks::LINE_LIMIT;
use crate::model::lines::{self, Form};
use crate::model::plaintext::{self, Dialect, Encoding};
use crate::model::{Entry, Kind};
use crate::store::{Corpus, KindFolder};

/// Exit code when some password was found.
const FOUND: u8 = 10;
const DIALECT: Dialect = Dialect { encoding: Encoding::Utf8, with_counts: false };

/// Options of `check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Check {
    /// Which corpus to ask [default: the first one that is active]
    #[arg(long)]
    pub kind: Option<Kind>,
    /// The lines are hashes, not passwords
    #[arg(long)]
    pub hash: bool,
    /// A corpus file instead of the active one
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

impl Check {
    /// Reads passwords from the prompt or standard input and prints a count for each.
    ///
    /// Exit code 0 when none was found, 10 when some were.
    ///
    /// # Errors
    /// There is no corpus, it is damaged, or a line cannot be looked up.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<ExitCode> {
        let corpus = self.corpus(data_dir)?;
        let mut found = false;
        let mut buffer = Vec::new();
        let mut out = io::stdout().lock();
        let mut answer = |line: &[u8]| -> anyhow::Result<()> {
            let hash = self.entry(corpus.kind(), line)?.hash;
            let count = match corpus.find(&hash[..corpus.kind().hash_bytes()], &mut buffer) {
                Ok(count) => count.unwrap_or(0),
                // The prefix tells part of the password: it stays out of messages.
                Err(cause) => bail!("cannot look up in {}: {cause}", corpus.path().display()),
            };
            found |= count > 0;
            Ok(writeln!(out, "{count}")?)
        };
        if io::stdin().is_terminal() {
            let prompt = if self.hash { "Hash: " } else { "Password: " };
            let line = rpassword::prompt_password(prompt).context("cannot read the password")?;
            answer(line.as_bytes())?;
        } else {
            // Nothing but the line end is stripped, as in a build.
            let mut lines = BoundedLines::new(io::stdin().lock(), LINE_LIMIT).with_mark();
            while let Some((number, line)) =
                lines.next_with_return().context("cannot read standard input")?
            {
                match line {
                    Line::Bytes(bytes) => answer(bytes)?,
                    Line::TooLong { .. } => bail!("line {number} is too long"),
                }
            }
        }
        Ok(if found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
    }

    fn corpus(&self, data_dir: &Path) -> anyhow::Result<Corpus> {
        if let Some(file) = &self.file {
            let corpus = Corpus::open(file, 0)?;
            if self.kind.is_some_and(|kind| kind != corpus.kind()) {
                bail!("{} holds {} digests", file.display(), corpus.kind().label());
            }
            return Ok(corpus);
        }
        for kind in Kind::ALL.into_iter().filter(|kind| self.kind.is_none_or(|k| k == *kind)) {
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

    fn entry(&self, kind: Kind, line: &[u8]) -> anyhow::Result<Entry> {
        if self.hash {
            let entry = lines::line(line, kind, Form::Whole)?;
            return entry.with_context(|| format!("expected a {} hash", kind.label()));
        }
        match plaintext::line(line, DIALECT) {
            plaintext::Line::Password { bytes, text, .. } => {
                Ok(plaintext::entry(kind, &bytes, &text, 1))
            }
            plaintext::Line::Empty | plaintext::Line::NoCount => {
                Ok(plaintext::entry(kind, b"", "", 1))
            }
            plaintext::Line::NotText if kind == Kind::Sha1 => {
                Ok(plaintext::entry(kind, line.strip_suffix(b"\r").unwrap_or(line), "", 1))
            }
            plaintext::Line::NotText => bail!("the password is not UTF-8"),
        }
    }
}
