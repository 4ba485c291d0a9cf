//! The `check` subcommand.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use batch::{BoundedLines, Line, until_closed};

use crate::jobs::{LINE_LIMIT, Lookup, open_corpus};
use crate::model::Kind;

/// The exit code if any password was found.
const FOUND: u8 = 10;

/// Options of `check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Check {
    /// Hash kind to search: sha1 or ntlm [default: the first kind with an active corpus]
    #[arg(long)]
    kind: Option<Kind>,
    /// Read hashes instead of passwords
    #[arg(long)]
    hash: bool,
    /// Corpus file to search [default: the active corpus]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Check {
    /// Reads passwords from a prompt or from standard input and prints the count of each.
    ///
    /// The exit code is 10 if any of them were found, and 0 otherwise.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<ExitCode> {
        let mut found = false;
        until_closed(self.print(data_dir, &mut found))?;
        Ok(if found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
    }

    fn print(&self, data_dir: &Path, found: &mut bool) -> anyhow::Result<()> {
        let corpus = open_corpus(self.file.as_deref(), self.kind, data_dir)?;
        let mut lookup = Lookup::new(corpus, self.hash);
        let mut out = io::stdout().lock();
        let mut answer = |line: &[u8]| -> anyhow::Result<()> {
            let count = lookup.count(line)?;
            *found |= count > 0;
            Ok(writeln!(out, "{count}")?)
        };
        if io::stdin().is_terminal() {
            let prompt = if self.hash { "Hash: " } else { "Password: " };
            let line = rpassword::prompt_password(prompt).context("cannot read the password")?;
            answer(line.as_bytes())?;
        } else {
            batch::refuse_overwriting(&["/dev/stdout"], ["-"])?;
            // Only strip line endings and a byte order mark, as `build` does.
            let mut lines = BoundedLines::new(io::stdin().lock(), LINE_LIMIT);
            while let Some((number, line)) =
                lines.next_with_return().context("cannot read standard input")?
            {
                match line {
                    Line::Bytes(bytes) => answer(bytes)?,
                    Line::TooLong { .. } => bail!("line {number} is too long"),
                }
            }
        }
        Ok(())
    }
}
