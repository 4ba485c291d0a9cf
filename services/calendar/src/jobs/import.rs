//! Import of iCalendar files of any size.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};

use anyhow::Context;
use batch::{Input, ProgressReporter, Unit};

use super::dry_run::dry_run;
use super::load::first_user;
use super::turns::Turns;
use crate::app::{Import, ImportLimits, Overview, Pass};
use crate::error::Error;
use crate::state::State;
use crate::store::statistics;
use crate::wire::ical::Reader;
use crate::wire::import::ImportJson;
use crate::wire::urls::Urls;

/// How an import goes about it.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Nothing is written: all of it happens in one transaction that is rolled back.
    pub dry_run: bool,
    /// Where the calendar is reached: ids of its own feeds end in this host.
    pub base: Option<String>,
}

/// Imports a file.
///
/// # Errors
/// The file cannot be read or is no calendar, or the database failed; what came before stays.
pub fn import(state: &State, input: &Input, options: ImportOptions) -> anyhow::Result<ImportJson> {
    let user = state.pools.read_blocking(first_user)?;
    let mut file = rereadable(input).context("cannot be read")?;
    let overview = Overview::of(state, BufReader::new(&file)).context("cannot be read")?;
    anyhow::ensure!(overview.is_calendar, "is no iCalendar file");
    let urls = Urls { base: options.base.unwrap_or_default(), alias: false };
    let mut import = Import::new(user, urls, ImportLimits::default(), overview);
    let progress = ProgressReporter::new("importing", Unit::Items("events"), None);
    let mut turns = Turns::new(&state.pools);
    let outcome = match options.dry_run {
        true => dry_run(&state.pools, |db| {
            write(&mut import, &mut file, &progress, |import, reader, pass| {
                import.write(state, db, reader, pass)
            })
        }),
        false => write(&mut import, &mut file, &progress, |import, reader, pass| {
            turns.write(|db| import.write(state, db, reader, pass))
        }),
    };
    progress.finish();
    outcome?;
    let report = import.into_report();
    if report.created > 0
        && !options.dry_run
        && let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db))
    {
        log::warn!("the database gathers statistics later, because it could not now: {error}");
    }
    Ok(report)
}

/// Opens an input that is read more than once; what can be read only once is kept meanwhile.
fn rereadable(input: &Input) -> io::Result<File> {
    match input.path().filter(|_| input.is_rereadable()) {
        Some(path) => File::open(path),
        None => {
            let mut kept = tempfile::tempfile()?;
            io::copy(&mut input.open()?, &mut kept)?;
            kept.seek(SeekFrom::Start(0))?;
            Ok(kept)
        }
    }
}

type FileReader<'a> = Reader<BufReader<&'a File>>;

fn write(
    import: &mut Import,
    file: &mut File,
    progress: &ProgressReporter,
    mut batch: impl FnMut(&mut Import, &mut FileReader<'_>, Pass) -> Result<bool, Error>,
) -> Result<(), Error> {
    for pass in import.passes() {
        file.seek(SeekFrom::Start(0)).map_err(|error| Error::Internal(error.to_string()))?;
        let mut reader = Reader::new(BufReader::new(&*file));
        while batch(import, &mut reader, pass)? {
            progress.set(u64::try_from(import.done()).unwrap_or(u64::MAX));
        }
    }
    Ok(())
}
