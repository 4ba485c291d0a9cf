//! `load`: loads events, venues, organizers and terms from a file, or a whole calendar from an
//! export.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use batch::{Input, Output};

use crate::jobs::{self, DateOrder, LoadOptions, LoadedExport};
use crate::state::State;

/// Arguments of `load`.
#[derive(clap::Args)]
pub struct LoadCommand {
    /// File with one JSON object per line, or - for standard input. Each object is the body of a
    /// create request plus `type`; events may also have an `external_id`. A file written by
    /// `export` can only be loaded into an empty database
    file: PathBuf,
    /// Read the file as a table of events with the columns of `export --csv`, separated by commas,
    /// semicolons or tabs. Use | to separate several venues, organizers, categories or tags in a
    /// cell
    #[arg(long)]
    csv: bool,
    /// Order of day and month in dates with slashes in a table, dmy or mdy. By default, dates such
    /// as 05/01/2027, which could mean either, are errors
    #[arg(long, value_name = "ORDER", requires = "csv")]
    date_order: Option<DateOrder>,
    /// Update existing items to match their line. By default, they are left unchanged
    #[arg(long)]
    upsert: bool,
    /// Report what would be done without writing anything. Blocks other writers while it runs
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Accept a file without lines. By default, the command fails
    #[arg(long)]
    allow_empty: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The opened file, and whether it is an export.
pub struct Lines {
    input: Input,
    reader: BufReader<Box<dyn Read + Send>>,
    is_export: bool,
}

impl Lines {
    /// Returns whether the file was written by `export`.
    pub fn is_export(&self) -> bool {
        self.is_export
    }
}

impl LoadCommand {
    /// Opens the file.
    pub fn open(&self) -> anyhow::Result<Lines> {
        let name = self.file.display();
        let open = || {
            let input = Input::at(&self.file)?;
            let mut reader = BufReader::with_capacity(1 << 16, input.open()?);
            let is_export = !self.csv && jobs::is_export(reader.fill_buf()?);
            Ok::<_, std::io::Error>(Lines { input, reader, is_export })
        };
        open().with_context(|| format!("{name} cannot be read"))
    }

    /// Loads the file and prints a report. Exits with status 1 if any line failed.
    pub fn run(&self, state: &State, lines: Lines) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        if lines.is_export {
            ensure!(
                !self.upsert,
                "{name} is an export, which can only be loaded into an empty database; omit \
                 --upsert"
            );
            return self.load_export(state, lines).with_context(|| name.to_string());
        }
        let options = LoadOptions { dry_run: self.dry_run, upsert: self.upsert };
        let order = self.date_order;
        let loaded = match (self.csv, lines.input.is_rereadable()) {
            (true, true) => jobs::load_table_file(state, lines.reader, options, order),
            (true, false) => jobs::load_table(state, lines.reader, options, order),
            (false, true) => jobs::load_file(state, lines.reader, options),
            (false, false) => jobs::load(state, lines.reader, options),
        };
        let loaded = loaded.with_context(|| name.to_string())?;
        ensure!(
            self.allow_empty || !loaded.is_empty(),
            "{name} contains no data, so nothing was loaded; check how the file was created, or \
             use --allow-empty if it is meant to be empty"
        );
        for fault in &loaded.faults {
            log::info!(target: "notice", "line {}: {}", fault.line, fault.message);
        }
        let printed = u64::try_from(loaded.faults.len()).unwrap_or(u64::MAX);
        if loaded.failed > printed {
            log::info!(target: "notice", "and {} more faulty lines", loaded.failed - printed);
        }
        for warning in &loaded.warnings {
            log::info!(target: "notice", "line {}: warning: {}", warning.line, warning.message);
        }
        let printed = u64::try_from(loaded.warnings.len()).unwrap_or(u64::MAX);
        if loaded.warned > printed {
            log::info!(target: "notice", "and {} more warnings", loaded.warned - printed);
        }
        let text =
            format_args!("{loaded}{}", if self.dry_run { "; nothing was written" } else { "" });
        Output::from_json_flag(self.json).print(&loaded, text)?;
        Ok(if loaded.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn load_export(&self, state: &State, lines: Lines) -> anyhow::Result<ExitCode> {
        let Lines { input, reader, .. } = lines;
        let output = Output::from_json_flag(self.json);
        if self.dry_run {
            let end = jobs::verify_export(reader)?;
            output.print(&end, format_args!("{end}; nothing was written"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let loaded = match input.is_rereadable() {
            // Verify the file before writing anything, so that a damaged file is rejected. The load
            // itself verifies it again.
            true => {
                jobs::verify_export(reader)?;
                let again = BufReader::with_capacity(1 << 16, input.open()?);
                jobs::load_export_file(state, again, state.clock.unix())?
            }
            false => jobs::load_export(state, reader, state.clock.unix())?,
        };
        // Print the new secrets first, because they can't be shown again.
        output.print(&loaded, Report(&loaded))?;
        jobs::gather_statistics(state);
        output.note("keys are not in an export: `calendar keys issue LOGIN` issues a new one");
        Ok(ExitCode::SUCCESS)
    }
}

/// Displays the result of a load, including new webhook secrets.
struct Report<'a>(&'a LoadedExport);

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.end.fmt(f)?;
        self.0
            .webhooks
            .iter()
            .try_for_each(|one| write!(f, "\nnew secret of {}: {}", one.url, one.secret))
    }
}
