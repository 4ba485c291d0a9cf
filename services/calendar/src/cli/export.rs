//! `export`: writes the whole calendar to a file.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use batch::{AtomicFile, Output};
use serde::Serialize;

use crate::jobs;
use crate::state::State;

/// Arguments of `export`.
#[derive(clap::Args)]
pub struct ExportCommand {
    /// File to write, or - for standard output. It contains drafts and event passwords, so only its
    /// owner can read it
    file: PathBuf,
    /// Write a CSV table of events for spreadsheets and `load --csv`. Events in the trash and
    /// password-protected events are omitted
    #[arg(long)]
    csv: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ExportCommand {
    /// Writes the file and prints a summary. Exits with status 1 if image files are missing.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        if self.csv {
            let table = self.write(|out| jobs::export_table(state, out))?;
            self.print(&table, table)?;
            return Ok(ExitCode::SUCCESS);
        }
        let exported = self.write(|out| jobs::export(state, out))?;
        self.print(&exported, &exported)?;
        if exported.missing_files > 0 {
            log::error!("{} image files are missing", exported.missing_files);
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        match self.is_stdout() {
            true => write(&mut BufWriter::new(io::stdout().lock())),
            false => written(&self.file, write),
        }
    }

    /// Prints the result, or logs it if the export itself is written to standard output.
    fn print(&self, result: &impl Serialize, text: impl Display) -> anyhow::Result<()> {
        match self.is_stdout() {
            true => log::info!(target: "notice", "{text}"),
            false => Output::from_json_flag(self.json).print(result, text)?,
        }
        Ok(())
    }

    fn is_stdout(&self) -> bool {
        self.file == Path::new("-")
    }
}

/// Writes a file that only its owner can read, replacing any existing file atomically. Devices and
/// pipes are written to directly, and symbolic links are followed.
fn written<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let name = path.display();
    let failed = || format!("{name} cannot be written");
    let target = match fs::metadata(path) {
        Ok(about) if !about.is_file() => {
            let file = File::options().write(true).open(path).with_context(failed)?;
            let mut out = BufWriter::with_capacity(1 << 20, file);
            let done = write(&mut out).with_context(|| name.to_string())?;
            out.flush().with_context(failed)?;
            return Ok(done);
        }
        Ok(_) => fs::canonicalize(path).with_context(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            path.to_path_buf()
        }
        Err(error) => return Err(error).with_context(failed),
    };
    let folder = target.parent().filter(|folder| *folder != Path::new(""));
    let file = AtomicFile::create_private_in(folder.unwrap_or(Path::new(".")));
    let mut out = BufWriter::with_capacity(1 << 20, file.with_context(failed)?);
    let done = write(&mut out).with_context(|| name.to_string())?;
    let file = out.into_inner().with_context(failed)?;
    file.commit(&target).with_context(failed)?;
    Ok(done)
}
