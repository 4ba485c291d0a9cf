//! Imports iCalendar files of any size.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};

use anyhow::Context;
use batch::{Input, ProgressReporter, Unit};
use database::{Db, WriterQueue};

use super::dry_run::dry_run;
use super::load::first_user;
use super::writer_queue::writer_queue;
use crate::app::{Import, ImportLimits, Overview, Progress};
use crate::error::Error;
use crate::ical::Reader;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::statistics;
use crate::wire::import::ImportJson;

#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Run the import in a single transaction and roll it back.
    pub dry_run: bool,
}

/// Imports a file. While the database is busy or unreachable, retries for up to a minute.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a calendar, or the database fails. Batches
/// that were already written are kept, and the error reports the last imported line.
pub fn import(state: &State, input: &Input, options: ImportOptions) -> anyhow::Result<ImportJson> {
    let user = state.pools.read_blocking(first_user)?;
    let file = rereadable(input).context("cannot be read")?;
    let overview = Overview::of(state, BufReader::new(&file)).context("cannot be read")?;
    anyhow::ensure!(overview.is_calendar, "is not an iCalendar file");
    let base = state.site.public_url.clone().unwrap_or_default();
    let urls = Urls { base, ..Urls::default() };
    let mut import = Import::new(user, urls, ImportLimits::default(), overview);
    let progress = ProgressReporter::new("importing", Unit::Items("events"), None);
    let mut queue = writer_queue(&state.pools);
    let outcome = match options.dry_run {
        true => dry_run(&state.pools, |db| {
            write(state, &mut import, &file, &progress, |import| import.write(state, db))
        }),
        false => write(state, &mut import, &file, &progress, |import| {
            write_batch(&mut queue, import, |db, import| import.write(state, db))
        }),
    };
    progress.finish();
    if let Err(error) = outcome {
        let error = anyhow::Error::from(error);
        let progress = progress_of(import.so_far()).filter(|_| !options.dry_run);
        return Err(match progress {
            Some(progress) => error.context(progress),
            None => error,
        });
    }
    let report = import.into_report();
    if report.created > 0
        && !options.dry_run
        && let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db))
    {
        log::warn!("cannot gather statistics, so the database will do it later: {error}");
    }
    Ok(report)
}

/// Opens `input` so that it can be read more than once. Standard input is copied to a temporary
/// file for this.
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

/// Describes how far a failed import got. Returns `None` if it didn't import anything.
fn progress_of(so_far: &Progress) -> Option<String> {
    let Progress { passes, line, report, .. } = so_far;
    let done = match (passes, line) {
        (0, 0) => return None,
        (0, line) => format!("all entries up to line {line} are imported"),
        (_, 0) => "all entries except overrides are imported".to_owned(),
        (_, line) => format!("all entries are imported, and all overrides up to line {line}"),
    };
    Some(format!("{done} ({report}); run the same command to resume"))
}

/// Writes a batch in a transaction. Each retry starts the batch from the beginning.
fn write_batch(
    queue: &mut WriterQueue<'_, Error>,
    import: &mut Import,
    mut write: impl FnMut(&mut Db, &mut Import) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let before = import.so_far().clone();
    let outcome = queue.write(|db| {
        import.restore(before.clone());
        write(db, import)
    });
    if outcome.is_err() {
        import.restore(before);
    }
    outcome
}

fn write(
    state: &State,
    import: &mut Import,
    mut file: &File,
    progress: &ProgressReporter,
    mut batch: impl FnMut(&mut Import) -> Result<bool, Error>,
) -> Result<(), Error> {
    for pass in import.passes() {
        file.seek(SeekFrom::Start(0)).map_err(|error| Error::Internal(error.to_string()))?;
        let mut reader = Reader::new(BufReader::new(file));
        let mut more = true;
        while more {
            import.prepare(state, &mut reader, pass)?;
            more = batch(import)?;
            progress.set(u64::try_from(import.done()).unwrap_or(u64::MAX));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::Parser;
    use database::DatabaseError;
    use domain::{Clock, SystemClock};
    use testkit::Database;

    use super::*;
    use crate::app::Subscriber;
    use crate::config::Settings;
    use crate::model::role::Role;
    use crate::model::subscription::{Plan, Subscription};
    use crate::model::subscription_parts::{Part, Parts};
    use crate::model::term::{Taxonomy, Term};
    use crate::store::media::Media;
    use crate::store::sql::Sql;
    use crate::store::{
        MIGRATIONS, events, imported, subscribed_events, subscriptions, terms, users,
    };

    /// More events than fit into one transaction.
    const EVENTS: u64 = 300;

    /// Maximum number of events per transaction: a batch plus one faulty event.
    const LARGEST: usize = 251;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        site: Settings,
    }

    /// Runs [`attempt_of`] with many events and one that is faulty.
    fn attempt(
        judge: impl Fn(u64) -> Result<(), DatabaseError>,
    ) -> (Result<(), Error>, Progress, u64) {
        let event = |number: u64| {
            format!("BEGIN:VEVENT\nUID:{number}\nDTSTART:20270401T100000Z\nEND:VEVENT\n")
        };
        let events: String = (0..EVENTS).map(event).collect();
        attempt_of(&format!("{events}{FAULTY}"), judge)
    }

    const FAULTY: &str = "BEGIN:VEVENT\nUID:faulty\nEND:VEVENT\n";

    fn state_of(database: &Database) -> State {
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let add = |db: &mut Db| users::add(db, "editor", "Editor", Role::Editor);
        pools.write_blocking(add).unwrap();
        let (site, media) = (Line::parse_from(["calendar"]).site, Media::new("media".into()));
        State::new(pools, SystemClock::shared(), site, media)
    }

    /// Writes a file with these entries and starts importing it.
    fn begin(database: &Database, state: &State, name: &str, entries: &str) -> (Import, PathBuf) {
        let text = format!("BEGIN:VCALENDAR\n{entries}END:VCALENDAR\n");
        let path = database.folder().join(name);
        std::fs::write(&path, &text).unwrap();
        let overview = Overview::of(state, text.as_bytes()).unwrap();
        let urls = Urls::default();
        let user = state.pools.read_blocking(first_user).unwrap();
        (Import::new(user, urls, ImportLimits::default(), overview), path)
    }

    /// Imports a file. `judge` is called with the number of each attempt and decides its outcome.
    /// Returns the result, the progress and the number of events.
    fn attempt_of(
        entries: &str,
        judge: impl Fn(u64) -> Result<(), DatabaseError>,
    ) -> (Result<(), Error>, Progress, u64) {
        let database = Database::new();
        let state = state_of(&database);
        let (mut import, path) = begin(&database, &state, "events.ics", entries);
        let file = File::open(&path).unwrap();
        let progress = ProgressReporter::new("importing", Unit::Items("events"), None);
        let (mut queue, mut attempts) = (writer_queue(&state.pools), 0);
        let outcome = write(&state, &mut import, &file, &progress, |import| {
            write_batch(&mut queue, import, |db, import| {
                let done = import.done();
                // All entries have been prepared by now, so the transaction itself must not read or
                // expand any.
                assert!(!import.so_far().ready.is_empty());
                let more = import.write(&state, db)?;
                assert!(import.done() - done <= LARGEST, "{}", import.done() - done);
                attempts += 1;
                judge(attempts)?;
                Ok(more)
            })
        });
        let count = |db: &mut Db| Sql::new(db, "select count(*) as n from events").number(db);
        let rows = state.pools.read_blocking(count).unwrap();
        (outcome, import.so_far().clone(), u64::try_from(rows).unwrap())
    }

    /// Returns the time this many days from now.
    fn day(days: i64) -> String {
        let day = SystemClock.now() + jiff::SignedDuration::from_hours(24 * days);
        day.strftime("%Y%m%dT100000Z").to_string()
    }

    #[test]
    fn later_revision_remains_after_an_older_file_imported_at_the_same_time() {
        let (first, second) = (day(1), day(2));
        let text = |sequence: u8, moved: &str| {
            format!(
                "BEGIN:VEVENT\nUID:daily\nSEQUENCE:{sequence}\nDTSTART:{first}\nSUMMARY:{sequence}\n\
                 RRULE:FREQ=DAILY;COUNT=400\nEND:VEVENT\n{moved}"
            )
        };
        let moved = format!(
            "BEGIN:VEVENT\nUID:daily\nRECURRENCE-ID:{second}\nSEQUENCE:1\nDTSTART:{second}\n\
             SUMMARY:1\nEND:VEVENT\n"
        );
        let (old, new) = (text(1, &moved), text(2, ""));
        // The second file is imported either while the first one's series is incomplete, or before
        // its override.
        for (is_old_first, is_within, skipped) in
            [(true, true, (2, 0)), (true, false, (1, 0)), (false, true, (0, 2))]
        {
            let database = Database::new();
            let state = state_of(&database);
            let (one, other) = if is_old_first { (&old, &new) } else { (&new, &old) };
            let (mut import, path) = begin(&database, &state, "one.ics", one);
            let (_, other) = begin(&database, &state, "other.ics", other);
            let other = Input::at(&other).unwrap();
            let file = File::open(&path).unwrap();
            let progress = ProgressReporter::new("importing", Unit::Items("events"), None);
            let (mut queue, mut between) = (writer_queue(&state.pools), None);
            let outcome = write(&state, &mut import, &file, &progress, |import| {
                let more = write_batch(&mut queue, import, |db, import| import.write(&state, db))?;
                let so_far = import.so_far();
                if between.is_none() && (so_far.passes == 1 || so_far.entry.is_some() && is_within)
                {
                    assert_eq!(so_far.entry.is_some(), is_within);
                    let report = super::import(&state, &other, ImportOptions::default()).unwrap();
                    between = Some(report);
                }
                Ok(more)
            });
            outcome.unwrap();
            let (one, other) = (import.into_report(), between.unwrap());
            assert_eq!((one.skipped, other.skipped), skipped, "{one}; {other}");
            let count = |db: &mut Db| -> Result<_, DatabaseError> {
                let event_of = |title: &str| {
                    format!("select count(*) as n from events where title = '{title}'")
                };
                let titles = (
                    Sql::new(db, &event_of("1")).number(db)?,
                    Sql::new(db, &event_of("2")).number(db)?,
                );
                Ok((titles, imported::revision(db, "daily")?.unwrap().sequence))
            };
            let known = state.pools.read_blocking(count).unwrap();
            assert_eq!(known, ((0, 400), Some(2)), "{is_old_first} {is_within}");
        }
    }

    #[test]
    fn long_series_is_split_into_transactions() {
        let (first, second) = (day(1), day(2));
        let daily = format!(
            "BEGIN:VEVENT\nUID:daily\nDTSTART:{first}\nRRULE:FREQ=DAILY;COUNT=400\nEND:VEVENT\n"
        );
        let moved = format!(
            "BEGIN:VEVENT\nUID:daily\nRECURRENCE-ID:{second}\nDTSTART:{second}\nSUMMARY:Moved\n\
             END:VEVENT\n"
        );
        let entries = format!("{daily}{FAULTY}{moved}");
        // Rolls back every other attempt, including some within the series.
        let busy = |attempt: u64| if attempt % 2 == 1 { Err(DatabaseError::Busy) } else { Ok(()) };
        let (outcome, so_far, rows) = attempt_of(&entries, busy);
        outcome.unwrap();
        let report = &so_far.report;
        assert_eq!((report.created, report.failed, rows), (400, 1, 400), "{report}");
        assert_eq!((report.updated, report.unchanged, report.skipped), (0, 0, 0), "{report}");
        // The first entry fails halfway, so neither entry is complete.
        let broken =
            |attempt: u64| if attempt == 2 { Err(DatabaseError::NotFound) } else { Ok(()) };
        let (outcome, so_far, rows) = attempt_of(&entries, broken);
        assert!(outcome.is_err());
        assert!((1..400).contains(&rows), "{rows}");
        assert_eq!(progress_of(&so_far), None);
    }

    #[test]
    fn rolled_back_batch_is_repeated_from_its_start() {
        let busy = |attempt: u64| if attempt % 2 == 1 { Err(DatabaseError::Busy) } else { Ok(()) };
        let (outcome, so_far, rows) = attempt(busy);
        outcome.unwrap();
        let report = &so_far.report;
        assert_eq!((report.created, report.failed, rows), (EVENTS, 1, EVENTS));
    }

    #[test]
    fn parent_of_a_series_is_not_an_event_that_was_rolled_back() {
        let (first, second) = (day(1), day(2));
        let daily =
            format!("BEGIN:VEVENT\nUID:s\nDTSTART:{first}\nRRULE:FREQ=DAILY;COUNT=2\nEND:VEVENT\n");
        let moved = |day: &str, title: &str| {
            format!(
                "BEGIN:VEVENT\nUID:s\nRECURRENCE-ID:{day}\nDTSTART:{day}\nSUMMARY:{title}\nEND:VEVENT\n"
            )
        };
        let entries = format!("{daily}{}{}", moved(&first, "One"), moved(&second, "Two"));
        let database = Database::new();
        let state = state_of(&database);
        let (mut import, path) = begin(&database, &state, "events.ics", &entries);
        let file = File::open(&path).unwrap();
        let progress = ProgressReporter::new("importing", Unit::Items("events"), None);
        let (mut queue, mut attempts) = (writer_queue(&state.pools), 0);
        let outcome = write(&state, &mut import, &file, &progress, |import| {
            write_batch(&mut queue, import, |db, import| {
                attempts += 1;
                if attempts % 2 == 1 {
                    import.write(&state, db)?;
                    return Err(DatabaseError::Busy.into());
                }
                // The events have different ids than in the first attempt.
                events::allocate(db)?;
                import.write(&state, db)
            })
        });
        outcome.unwrap();
        let count = |db: &mut Db| -> Result<_, DatabaseError> {
            let parents = "events where parent_id is null and title = 'One'";
            let others = "events c join events p on p.id = c.parent_id where c.title = 'Two' and \
                p.title = 'One'";
            let number = |from: &str| format!("select count(*) as n from {from}");
            Ok((
                Sql::new(db, &number(parents)).number(db)?,
                Sql::new(db, &number(others)).number(db)?,
            ))
        };
        assert_eq!(state.pools.read_blocking(count).unwrap(), (1, 1));
    }

    /// Adds a subscription with a category.
    fn subscribed(state: &State, category: Option<i64>) -> Subscription {
        let author = state.pools.read_blocking(first_user).unwrap().id;
        let plan = Plan {
            url: "https://club.example/events.ics".to_owned(),
            interval: 60,
            author,
            status: "publish".to_owned(),
            category,
            venue: None,
            adopts: false,
        };
        let add = |db: &mut Db| -> Result<_, DatabaseError> {
            let id = subscriptions::add(db, &plan, 0)?;
            Ok(subscriptions::find(db, id)?.unwrap())
        };
        state.pools.write_blocking(add).unwrap()
    }

    /// Imports a subscription's file. `between` writes to the database after the import has
    /// started.
    fn run(
        (database, state): (&Database, &State),
        (subscription, entries): (&Subscription, &str),
        between: impl FnOnce(&mut Db) -> Result<(), DatabaseError>,
    ) -> Progress {
        let (import, path) = begin(database, state, "subscribed.ics", entries);
        let zone = &state.site.settings.site_timezone;
        let read = |db: &mut Db| Subscriber::of(db, subscription, zone);
        let mut import = import.of_subscription(state.pools.read_blocking(read).unwrap());
        state.pools.write_blocking(between).unwrap();
        let file = File::open(&path).unwrap();
        let progress = ProgressReporter::new("importing", Unit::Items("events"), None);
        let mut queue = writer_queue(&state.pools);
        let outcome = write(state, &mut import, &file, &progress, |import| {
            write_batch(&mut queue, import, |db, import| import.write(state, db))
        });
        outcome.unwrap();
        import.so_far().clone()
    }

    #[test]
    fn date_that_a_user_changes_during_a_run_stays() {
        let database = Database::new();
        let state = state_of(&database);
        let subscription = subscribed(&state, None);
        let series = |count: u8| {
            let first = day(1);
            format!(
                "BEGIN:VEVENT\nUID:s\nDTSTART:{first}\nRRULE:FREQ=DAILY;COUNT={count}\nEND:VEVENT\n"
            )
        };
        let so_far = run((&database, &state), (&subscription, &series(5)), |_| Ok(()));
        assert_eq!(so_far.report.created, 5);
        let changed = format!("s#{}", day(4));
        let so_far = run((&database, &state), (&subscription, &series(2)), |db| {
            let known = subscribed_events::find(db, subscription.id, &changed)?.unwrap();
            subscribed_events::note_changed(db, known.event.unwrap(), &Parts::of([Part::Title]))
        });
        assert_eq!((so_far.trashed, so_far.stayed), (2, 1));
        assert_eq!(so_far.staying[0].uid, changed);
    }

    #[test]
    fn category_that_is_deleted_during_a_run_is_not_created_again() {
        let database = Database::new();
        let state = state_of(&database);
        let category = Term {
            id: 0,
            taxonomy: Taxonomy::Category,
            name: "Clubs".to_owned(),
            slug: "clubs".to_owned(),
            description: String::new(),
            parent: 0,
            count: 0,
        };
        let add = |db: &mut Db| terms::insert(db, &category);
        let id = state.pools.write_blocking(add).unwrap();
        let subscription = subscribed(&state, Some(id));
        let entry = format!("BEGIN:VEVENT\nUID:a\nDTSTART:{}\nEND:VEVENT\n", day(1));
        let so_far = run((&database, &state), (&subscription, &entry), |db| {
            Sql::new(db, &format!("delete from terms where id = {id}")).execute(db).map(drop)
        });
        assert_eq!(so_far.report.created, 1);
        let count = |db: &mut Db| Sql::new(db, "select count(*) as n from terms").number(db);
        assert_eq!(state.pools.read_blocking(count).unwrap(), 0);
    }

    #[test]
    fn failed_import_reports_its_last_complete_line() {
        let broken =
            |attempt: u64| if attempt == 2 { Err(DatabaseError::NotFound) } else { Ok(()) };
        let (outcome, so_far, rows) = attempt(broken);
        assert!(outcome.is_err());
        assert!((1..EVENTS).contains(&rows), "{rows}");
        // Each event takes four lines, and the first one starts on line 2.
        let line = 2 + 4 * (rows - 1);
        let expected = format!(
            "all entries up to line {line} are imported ({rows} created, 0 updated, \
             0 unchanged, 0 skipped, 0 failed); run the same command to resume"
        );
        assert_eq!(progress_of(&so_far), Some(expected));
        let (_, so_far, rows) = attempt(|_| Err(DatabaseError::NotFound));
        assert_eq!((progress_of(&so_far), rows), (None, 0));
    }
}
