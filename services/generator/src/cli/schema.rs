//! The `schema` subcommand, which proposes a `records` schema for existing tables.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use crate::model::records::{of_json_schema, of_sample, of_sql, virtual_tables};

/// Maximum file size in bytes.
const LARGEST: u64 = 16 << 20;
/// Maximum number of sample rows to read.
const ROWS: usize = 1_000;

/// The kind of input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// CREATE TABLE statements for PostgreSQL, MySQL or SQLite
    Sql,
    /// A JSON Schema (draft 2020-12) or an OpenAPI document
    JsonSchema,
    /// CSV with a header. Only names and shapes are used, not the values
    Csv,
}

/// Prints a schema for `records` that matches existing tables. Edit it, then pass it to `records`.
#[derive(Clone, Debug, clap::Args)]
pub struct SchemaCommand {
    /// File to read, up to 16 MiB, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Type of the file [default: from its extension: .sql, .json or .csv]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Name of a schema in the OpenAPI document or in $defs
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
}

impl SchemaCommand {
    /// Writes the proposed schema to `out`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or parsed, or if the output cannot be written.
    pub fn run_to(self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let path = self.file.display();
        let kind = self.kind.or_else(|| by_extension(&self.file));
        let kind = kind.with_context(|| format!("{path}: use --kind to specify its type"))?;
        let text = read(&self.file).with_context(|| format!("cannot read {path}"))?;
        let mut left_out = Vec::new();
        let schema = match kind {
            Kind::Sql => of_sql(&text).map(|proposed| {
                left_out = proposed.left_out;
                (proposed.schema, proposed.broken)
            }),
            Kind::JsonSchema => {
                let document = serde_json::from_str(&text);
                let document = document.with_context(|| format!("{path} is not JSON"))?;
                of_json_schema(&document, self.component.as_deref())
            }
            Kind::Csv => {
                let mut rows = rows(&text).into_iter();
                let names = rows.next().unwrap_or_default();
                let made = of_sample(&names, &rows.take(ROWS).collect::<Vec<_>>());
                made.map(|schema| (schema, Vec::new()))
            }
        };
        let (schema, broken) = schema.map_err(|why| anyhow!("{path}: {why}"))?;
        for reason in left_out {
            eprintln!("{reason}; it is left out");
        }
        let virtual_tables = if kind == Kind::Sql { virtual_tables(&text) } else { Vec::new() };
        for name in virtual_tables {
            eprintln!("{name} is a virtual table: it is left out, with the tables of its data");
        }
        for constraint in broken {
            eprintln!("the rows may violate {constraint}");
        }
        serde_json::to_writer_pretty(&mut *out, &schema)?;
        writeln!(out)?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn by_extension(path: &Path) -> Option<Kind> {
    match path.extension()?.to_str()? {
        "sql" => Some(Kind::Sql),
        "json" => Some(Kind::JsonSchema),
        "csv" => Some(Kind::Csv),
        _ => None,
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    match path.to_str() {
        Some("-") => std::io::stdin().take(LARGEST + 1).read_to_string(&mut text)?,
        _ => std::fs::File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?,
    };
    match text.len() as u64 > LARGEST {
        true => Err(std::io::Error::other("it is larger than 16 MiB: omit the data")),
        false => Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned)),
    }
}

/// Parses CSV. The separator is either declared in a line such as `sep=;`, as used by Excel, or
/// else the one most common in the header.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let named = first.trim_end().strip_prefix("sep=").filter(|sign| sign.chars().count() == 1);
    let text = if named.is_some() { rest } else { text };
    let header = text.split(['\r', '\n']).next().unwrap_or_default();
    // Ignore separators inside quoted names.
    let count = |sign: char| -> usize {
        header.split('"').step_by(2).map(|part| part.matches(sign).count()).sum()
    };
    let usual = [',', ';', '\t', '|'].into_iter().max_by_key(|sign| count(*sign));
    let separator = named.and_then(|sign| sign.chars().next()).or(usual).unwrap_or(',');
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' if quoted => quoted = false,
            // A quote anywhere else is part of the text, as in 5" nails.
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            _ if quoted => cell.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' | '\n' => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
                if rows.len() > ROWS {
                    break;
                }
            }
            _ if letter == separator => row.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    let width = rows.first().map_or(0, Vec::len);
    // Drop blank lines, unless there is just one column.
    rows.retain(|row| width < 2 || row.len() > 1 || row.iter().any(|cell| !cell.is_empty()));
    rows
}
