//! Checks that the database and the index match.

use database::{DatabaseError, Db, Pools};

use super::error::SnapshotError;
use crate::engine::{EngineError, FileIndex, Publish};
use crate::store::load_runs::{self, LoadRun};
use crate::store::{generations, removals};

/// Number of comparisons before we report a mismatch. A single comparison isn't conclusive, since a
/// publish or removal might happen between the two reads.
const ATTEMPTS: u32 = 4;

/// Compares a generation's index with the database. Returns `false` if the database has since
/// switched to another generation.
///
/// # Errors
/// Returns [`EngineError::Mismatch`] if they don't match.
pub fn is_paired(
    pools: &Pools,
    index: &dyn FileIndex,
    generation: u32,
) -> Result<bool, SnapshotError> {
    let mut attempt = 1;
    loop {
        let journal = &index.summary().journal;
        let published = journal.published.as_ref();
        let (searched, own, run, is_removing) =
            pools.read_blocking(|db: &mut Db| -> Result<_, DatabaseError> {
                let run = load_runs::find(db, published.map_or(0, |published| published.run))?;
                let is_removing = removals::is_pending(db, journal.removal.unwrap_or(0))?;
                let (state, own) = (generations::read(db)?, generations::identity(db)?);
                Ok((state.generation, own, run, is_removing))
            })?;
        if searched != generation {
            return Ok(false);
        }
        let unsettled = is_removing || run.as_ref().is_some_and(|run| run.state != "published");
        let mismatch = own.mismatch(&journal.identity, unsettled);
        let other_run = published.zip(run.as_ref()).and_then(|(one, other)| differs(one, other));
        let Some(reason) = mismatch.or(other_run) else { return Ok(true) };
        if attempt == ATTEMPTS {
            return Err(EngineError::Mismatch(reason).into());
        }
        attempt += 1;
        index.refresh()?;
    }
}

/// Explains how the last run of the index differs from the database's run with the same id. The
/// numbers of publishes are equal if both were restored from one backup and loaded separately.
fn differs(published: &Publish, run: &LoadRun) -> Option<String> {
    // A copy made by a rebuild doesn't have the time.
    let is_other = published.begun_at != 0 && published.begun_at != run.begun_at();
    is_other.then(|| {
        let id = published.run;
        format!("run {id} of the index began at another time than run {id} of the database")
    })
}

#[cfg(test)]
mod tests {
    use testkit::Database;

    use super::*;
    use crate::engine::{EmbeddedIndex, Mode, NamedBucket};
    use crate::model::identity::Identity;
    use crate::store::MIGRATIONS;

    #[test]
    fn index_with_another_run_of_the_same_number_is_rejected() {
        let crawl = r#"{"sources":[{"path":"a"},{"stored":{"begun_at":5}}]}"#;
        for (options, started, begun, is_match) in [
            ("{}", 5, 5, true),
            ("{}", 5, 6, false),
            ("{}", 6, 5, false),
            ("{}", 5, 0, true),
            (crawl, 9, 5, true),
            (crawl, 9, 9, false),
        ] {
            let (database, folder) = (Database::new(), tempfile::tempdir().unwrap());
            let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
            let run = pools
                .write_blocking(|db| -> Result<u64, DatabaseError> {
                    generations::name_index(db, "name")?;
                    load_runs::begin(db, 0, "replace", options, started)
                })
                .unwrap();
            let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
            let mut writer = index.writer(64).unwrap();
            writer.identify(Identity { index: "name".to_owned(), publishes: 0 });
            writer.begin(run).unwrap();
            writer.rules().begun_at = begun;
            let bucket = NamedBucket { id: 1, truncated: false, partial: false };
            writer.publish(Mode::Replace, vec![bucket], 10).unwrap();
            index.refresh().unwrap();
            let settle = |db: &mut Db| generations::published(db, &writer.journal().identity);
            pools.write_blocking(settle).unwrap();
            match is_paired(&pools, &index, 1) {
                Ok(found) => assert!(found && is_match, "{options} {started} {begun}"),
                Err(error) => {
                    assert!(!is_match, "{options} {started} {begun}: {error}");
                    assert!(error.to_string().contains("run 1 of the index began"), "{error}");
                }
            }
        }
    }
}
