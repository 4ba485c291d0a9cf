//! `records --into`: writes rows straight into database tables.

use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use batch::{ProgressReporter, Unit};
use database::Db;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::model::DATA_VERSION;
use crate::model::records::{Schema, Table};
use crate::store::fill_progress::{self, Progress};
use crate::wire::{Document, RowForm};

/// Maximum number of rows per transaction.
const ROWS: u64 = 5_000;
/// Size in bytes after which no more rows are added to a transaction.
const BYTES: usize = 4 << 20;

/// Opens the database, and reads the progress of an earlier unfinished run, if any.
pub fn open(url: &str) -> anyhow::Result<(Db, Vec<Progress>)> {
    let mut db = fill_progress::open(url).context("--into")?;
    let progress = fill_progress::read(&mut db).context("cannot read generator_progress")?;
    Ok((db, progress))
}

/// Everything that determines which rows to write.
pub struct Origin<'a> {
    /// The source text of the schema.
    pub text: &'a str,
    /// The schema, parsed as JSON.
    pub value: &'a Value,
    pub seed: &'a str,
    pub ref_date: String,
    /// The number of rows to skip, and the maximum number to write.
    pub part: (u64, Option<u64>),
}

impl Origin<'_> {
    fn digest(&self) -> String {
        let Self { text, seed, ref_date, part, .. } = self;
        let all = format!("{DATA_VERSION}\0{seed}\0{ref_date}\0{part:?}\0{text}");
        hex::encode(Sha256::digest(all))
    }

    /// Returns the hidden sequences of `table`, each with its value in row `row`. If the table has
    /// a column of the same name, only the database writes that column.
    fn hidden_sequences(&self, table: &str, row: u64) -> Vec<(&str, i64)> {
        let several = self.value["tables"].as_array();
        let tables = several.map_or(std::slice::from_ref(self.value), Vec::as_slice);
        let is_own = |own: &&Value| own["name"].as_str().unwrap_or("records") == table;
        let fields = tables.iter().filter(is_own).filter_map(|own| own["fields"].as_array());
        let number_of = |field: &Value| {
            // The schema has been validated, so if this is a float, it is a whole number such as
            // 1e3.
            let float = |name: &str| field[name].as_f64().map(|number| number as i64);
            let member = |name: &str| field[name].as_i64().or_else(|| float(name)).unwrap_or(1);
            let passed = i64::try_from(row).ok()?.checked_mul(member("step"))?;
            let number = passed.checked_add(member("start")).filter(|number| *number > 0)?;
            (field["type"] == "sequence" && field["hidden"] == true).then_some(number)
        };
        fields
            .flatten()
            .filter_map(|field| Some((field["name"].as_str()?, number_of(field)?)))
            .collect()
    }
}

/// Fills all tables, parents before children, resuming an earlier run if there was one.
pub fn fill(
    db: &mut Db,
    earlier: Vec<Progress>,
    schema: &Schema,
    origin: &Origin<'_>,
) -> anyhow::Result<ExitCode> {
    let tables: Vec<_> = schema.parents_first().collect();
    let digest = origin.digest();
    let begun = match earlier.is_empty() {
        false => {
            let is_same = |progress: &Progress| progress.digest == digest;
            ensure!(
                earlier.iter().all(is_same),
                "an earlier run with a different schema, seed or number of rows did not finish. \
                 Run it again until it finishes, or empty its tables and drop the table \
                 generator_progress"
            );
            for Table { name, .. } in &tables {
                ensure!(
                    fill_progress::has_written_rows(db, name)
                        .with_context(|| format!("cannot read {name}"))?,
                    "the table {name} does not have the rows that the earlier run wrote. Empty the \
                     tables, drop the table generator_progress, and start again"
                );
            }
            earlier
        }
        true => {
            let progress = |table: &&Table| Progress {
                table_name: table.name.clone(),
                digest: digest.clone(),
                seed: origin.seed.to_owned(),
                ref_date: origin.ref_date.clone(),
                next_row: 0,
            };
            let begun: Vec<_> = tables.iter().map(progress).collect();
            fill_progress::begin(db, &begun)?;
            begun
        }
    };
    for table in tables {
        let progress = begun.iter().find(|progress| progress.table_name == table.name);
        let done = progress.and_then(|progress| u64::try_from(progress.next_row).ok());
        let done =
            done.with_context(|| format!("generator_progress does not contain {}", table.name))?;
        fill_table(db, schema, table, origin, done)?;
    }
    fill_progress::end(db)
        .context("all rows are written, but generator_progress cannot be dropped")?;
    Ok(ExitCode::SUCCESS)
}

fn fill_table(
    db: &mut Db,
    schema: &Schema,
    table: &Table,
    origin: &Origin<'_>,
    done: u64,
) -> anyhow::Result<()> {
    let name = &table.name;
    let (offset, most) = table.asked(origin.part);
    let left = table.rows.saturating_sub(offset);
    let total = most.map_or(left, |most| most.min(left));
    let reporter = ProgressReporter::new(name, Unit::Items("rows"), Some(total)).resumed_from(done);
    let mut next = done;
    let mut rows = Vec::new();
    while next < total {
        let wanted = ROWS.min(total - next);
        let part = (offset + next, Some(wanted));
        let mut document = Document::new(RowForm::Sql, schema, Some(name), part)?;
        rows.clear();
        let mut count = 0;
        while count < wanted && rows.len() < BYTES && document.push(&mut rows) {
            count += 1;
        }
        // The statement isn't terminated yet, because the document may have more rows.
        rows.push(b';');
        let sql = std::str::from_utf8(&rows)?;
        let end = next + count;
        let hidden = origin.hidden_sequences(name, offset + next);
        let is_ours =
            fill_progress::write(db, name, (next, end), sql, &hidden).with_context(|| {
                format!("the database rejected rows {} to {end} of {name}", next + 1)
            })?;
        if !is_ours {
            bail!("another run is writing to {name}: wait for it to finish");
        }
        next = end;
        reporter.set(next);
    }
    reporter.finish();
    Ok(())
}
