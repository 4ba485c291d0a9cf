//! The `records` subcommand, which generates table rows without a server.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use jiff::civil::Date;
use serde_json::Value;

use super::into::{self, Origin};
use super::subject::unless_closed;
use super::threads::{self, Source};
use crate::model::records::{Bounds, Schema, parse};
use crate::model::{SEEDED_DAY, Seed};
use crate::store::fill_progress::Progress;
use crate::wire::{Document, DocumentError, RowForm, file_names, fill_book};

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One JSON object per line
    Ndjson,
    /// A JSON array, or an object of arrays for several tables
    Json,
    /// Comma-separated values with a header (RFC 4180)
    Csv,
    /// INSERT statements with up to 100 rows each
    Sql,
    /// PostgreSQL COPY data for psql
    Copy,
    /// An Excel workbook with one sheet per table
    Xlsx,
}

impl Format {
    /// Returns the row format, or `None` for workbooks.
    fn row_form(self) -> Option<RowForm> {
        match self {
            Self::Ndjson => Some(RowForm::Ndjson),
            Self::Json => Some(RowForm::Json),
            Self::Csv => Some(RowForm::Csv),
            Self::Sql => Some(RowForm::Sql),
            Self::Copy => Some(RowForm::Copy),
            Self::Xlsx => None,
        }
    }
}

/// Number of bytes to write at a time.
const PART: usize = 64 << 10;

/// Generates any number of rows for the tables of a schema. With a seed, they are the same rows
/// that the HTTP operation returns.
#[derive(Clone, Debug, clap::Args)]
pub struct RecordsCommand {
    /// JSON file with the schema, or - for standard input
    #[arg(value_name = "SCHEMA")]
    schema: PathBuf,
    /// Number of rows per table [default: the table's `rows`, or 10]
    #[arg(long, short = 'n', value_name = "N")]
    rows: Option<u64>,
    /// Number of rows to skip. With the same seed, every part is a slice of the same table
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    /// Seed for reproducible rows
    #[arg(long)]
    seed: Option<String>,
    /// Reference date for ages, dates and card expiry dates [default: 2030-01-01 with a seed,
    /// otherwise today]
    #[arg(long, value_name = "DATE")]
    ref_date: Option<Date>,
    /// Row format
    #[arg(long, value_enum, default_value_t = Format::Ndjson)]
    format: Format,
    /// Start CSV with a byte order mark, which Excel needs to recognize UTF-8
    #[arg(long)]
    bom: bool,
    /// Write only this table
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Write one file per table to this folder, which is created if needed. Fails if a file already
    /// exists
    #[arg(long, value_name = "FOLDER", conflicts_with = "table")]
    out: Option<PathBuf>,
    /// Fill the empty tables of a database, sqlite://PATH or postgres://…, in transactions. To
    /// resume an interrupted run, repeat the command; the database keeps its progress in the table
    /// generator_progress
    #[arg(long, value_name = "URL", conflicts_with_all = ["table", "out", "format", "bom"])]
    into: Option<String>,
    /// Number of threads that generate rows, 1 to 64. The output does not depend on this number.
    /// Workbooks and databases always use one thread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    threads: u64,
}

/// A parsed schema.
struct Given {
    /// The source text of the schema.
    text: String,
    value: Value,
    bounds: Bounds,
    schema: Schema,
}

impl RecordsCommand {
    /// Generates rows and writes them to `out`, to files or to a database.
    ///
    /// # Errors
    /// Returns an error if the schema cannot be read or the output cannot be written. For an
    /// invalid schema, the error lists everything that is wrong with it.
    pub fn run_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        unless_closed(self.write_to(today, out))
    }

    fn write_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        if let Some(url) = &self.into {
            return self.fill(url, today);
        }
        let read = self.read(today, None)?;
        match &self.out {
            None => {
                let part = (self.offset, self.rows);
                self.write_table(&read, self.table.as_deref(), part, out)?;
            }
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot create {}", folder.display()))?;
                let extension = self.format.row_form().map_or("xlsx", RowForm::extension);
                let names = read.schema.tables.iter().map(|table| table.name.as_str());
                let names = file_names(names, extension);
                for (table, name) in read.schema.tables.iter().zip(names) {
                    let path = folder.join(name);
                    let file = File::create_new(&path)
                        .with_context(|| format!("cannot create {}", path.display()))?;
                    let part = table.asked((self.offset, self.rows));
                    let mut file = BufWriter::new(file);
                    self.write_table(&read, Some(&table.name), part, &mut file)?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn fill(&self, url: &str, today: Date) -> anyhow::Result<ExitCode> {
        let (mut db, earlier) = into::open(url)?;
        let Given { text, value, bounds, schema } = self.read(today, earlier.first())?;
        let part = (self.offset, self.rows);
        let ref_date = bounds.day.to_string();
        let seed = bounds.seed.as_str();
        let origin = Origin { text: &text, value: &value, seed, ref_date, part };
        into::fill(&mut db, earlier, &schema, &origin)
    }

    /// Reads the schema. The seed and the reference date default to the ones from an earlier run,
    /// if any.
    fn read(&self, today: Date, earlier: Option<&Progress>) -> anyhow::Result<Given> {
        let path = self.schema.display();
        let mut text = String::new();
        match self.schema.to_str() {
            Some("-") => std::io::stdin().read_to_string(&mut text).map(drop),
            _ => File::open(&self.schema)
                .and_then(|mut file| file.read_to_string(&mut text))
                .map(drop),
        }
        .with_context(|| format!("cannot read {path}"))?;
        // Some Windows editors add a byte order mark.
        let json = text.trim_start_matches('\u{feff}');
        let value = serde_json::from_str(json).with_context(|| format!("{path} is not JSON"))?;
        let usual = match earlier {
            Some(earlier) => earlier.ref_date.parse()?,
            None if self.seed.is_some() => SEEDED_DAY,
            None => today,
        };
        let seed = self.seed.as_deref().or(earlier.map(|earlier| earlier.seed.as_str()));
        let seed = seed.map_or_else(Seed::fresh, Seed::parse)?;
        let bounds = Bounds {
            seed,
            day: self.ref_date.unwrap_or(usual),
            is_part: self.offset > 0,
            is_sql: self.into.is_some() || matches!(self.format, Format::Sql | Format::Copy),
            rows: self.rows.map(|rows| rows.saturating_add(self.offset)),
            most_tables: 1_000,
            most_fields: 10_000,
            most_rows: u64::MAX,
        };
        let schema = parse(&value, &bounds).map_err(|faults| {
            let lines: Vec<_> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
            let count = faults.len();
            let noun = if count == 1 { "fault" } else { "faults" };
            anyhow::anyhow!("{path} has {count} {noun}:{}", lines.concat())
        })?;
        Ok(Given { text, value, bounds, schema })
    }

    fn write_table(
        &self,
        read: &Given,
        table: Option<&str>,
        part: (u64, Option<u64>),
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Given { value, bounds, schema, .. } = read;
        let Some(form) = self.format.row_form() else {
            let (book, _) = fill_book(schema, table, part, usize::MAX)?;
            book.write_to(out)?;
            return Ok(out.flush()?);
        };
        if self.bom && form == RowForm::Csv {
            out.write_all("\u{feff}".as_bytes())?;
        }
        let document = Document::new(form, schema, table, part);
        let mut document = match document {
            Ok(document) => document,
            Err(DocumentError::OneTable) => {
                bail!("the schema has several tables: choose one with --table, or --out FOLDER")
            }
            Err(DocumentError::UnknownTable) => bail!("--table must name a table of the schema"),
        };
        if self.threads > 1 {
            return threads::write(&Source { value, bounds, form }, document, self.threads, out);
        }
        let mut text = Vec::with_capacity(PART + 4_096);
        while document.push(&mut text) {
            if text.len() >= PART {
                out.write_all(&text)?;
                text.clear();
            }
        }
        out.write_all(&text)?;
        out.flush()?;
        Ok(())
    }
}
