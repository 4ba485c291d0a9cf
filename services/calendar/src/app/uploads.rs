//! File uploads: calendars and images.

use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::{DatabaseError, Db, off_worker};
use parking_lot::Mutex;

use super::context::RequestContext;
use super::import_overview::Overview;
use super::import_progress::ImportLimits;
use super::imports::Import;
use super::request::Request;
use super::transactions::read;
use crate::error::Error;
use crate::ical::Reader;
use crate::metrics::{self, ImportOutcome};
use crate::model::role::{self, Action, User};
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::images;
use crate::store::media::MediaError;
use crate::store::remote_images::MAX_BYTES;
use crate::wire::image::ImageJson;
use crate::wire::import::ImportJson;
use crate::wire::parameter_errors::ParameterErrors;

/// Maximum image size in bytes.
pub const IMAGE_BYTES: usize = MAX_BYTES;

/// Time limit for an import over HTTP.
const IMPORT_TIME: Duration = Duration::from_secs(30);

/// Maximum number of events in an import over HTTP.
const IMPORT_EVENTS: usize = 20_000;

/// Returns the user who is uploading a file. Fails if the user isn't permitted to upload.
pub async fn permit(state: &State, login: Option<String>, action: Action) -> Result<User, Error> {
    let login = login.ok_or(Error::Unauthorized)?;
    state.pools.read(move |db| permitted(db, &login, action)).await
}

/// Looks up a user. Fails unless the user's role permits the action.
fn permitted(db: &mut Db, login: &str, action: Action) -> Result<User, Error> {
    let actor = RequestContext::actor(db, Some(login))?;
    actor.filter(|user| role::may(user, action)).ok_or(Error::Forbidden)
}

/// Imports a calendar and counts the outcome in the metrics.
///
/// # Errors
/// See [`import_file`].
pub async fn import(
    state: &State,
    user: User,
    urls: Urls,
    file: Vec<u8>,
) -> Result<ImportJson, Error> {
    let imported = import_file(state, user, urls, file).await;
    metrics::count_import(match &imported {
        Ok(report) if report.failed == 0 => ImportOutcome::Whole,
        Ok(_) => ImportOutcome::Partial,
        Err(_) => ImportOutcome::Refused,
    });
    imported
}

/// Imports a calendar.
///
/// # Errors
///
/// Returns an error if the file isn't a calendar, or if the database fails or stays busy. Batches
/// written so far are kept, so the client can resume by sending the file again.
async fn import_file(
    state: &State,
    user: User,
    urls: Urls,
    file: Vec<u8>,
) -> Result<ImportJson, Error> {
    let deadline = Instant::now() + IMPORT_TIME;
    let file = Arc::<[u8]>::from(file);
    let (own, whole) = (state.clone(), file.clone());
    let overview = off_worker(move || Overview::of(&own, &*whole)).await?;
    let overview = overview.map_err(|error| Error::Internal(error.to_string()))?;
    if !overview.is_calendar {
        return Err(ParameterErrors::one("file", "must be an iCalendar file").into());
    }
    let limits = ImportLimits { events: Some(IMPORT_EVENTS), deadline: Some(deadline) };
    let mut import = Import::new(user, urls, limits, overview);
    for pass in import.passes() {
        let mut reader = Reader::new(Cursor::new(file.clone()));
        let mut more = true;
        while more {
            let own = state.clone();
            let prepared = off_worker(move || {
                import.prepare(&own, &mut reader, pass)?;
                Ok::<_, Error>((import, reader))
            });
            (import, reader) = prepared.await??;
            (import, more) = write_batch(state, import, deadline).await?;
        }
    }
    Ok(import.into_report())
}

/// Writes prepared entries. Returns whether there are more.
///
/// While the database is busy, this retries the batch until the deadline, because an error response
/// couldn't report which events have already been written.
async fn write_batch(
    state: &State,
    import: Import,
    deadline: Instant,
) -> Result<(Import, bool), Error> {
    let login = &import.login().to_owned();
    let slot = Arc::new(Mutex::new(Some(import)));
    loop {
        let (own, waiting) = (state.clone(), slot.clone());
        let batch = move |db: &mut Db| {
            let taken = waiting.lock().take();
            let begun = || Error::Internal("an import batch started twice".to_owned());
            let mut import = taken.ok_or_else(begun)?;
            // The user's role might have changed since the upload.
            permitted(db, import.login(), Action::Import)?;
            let more = import.write(&own, db)?;
            Ok::<_, Error>((import, more))
        };
        let outcome = state.pools.write_as(Some(login), batch).await;
        // Once a batch has started, the transaction has consumed its state, so it can't be retried.
        let is_whole = slot.lock().is_some();
        match outcome {
            Err(Error::Store(DatabaseError::Busy)) if is_whole && Instant::now() < deadline => {}
            outcome => return outcome,
        }
    }
}

/// Stores an image.
pub async fn image(
    state: &State,
    user: User,
    urls: &Urls,
    bytes: Vec<u8>,
) -> Result<ImageJson, Error> {
    let media = state.media.clone();
    let file = match off_worker(move || media.store(&bytes)).await? {
        Ok(file) => file,
        Err(MediaError::UnknownFormat) => {
            let text = "must be a JPEG, PNG, GIF or WebP image";
            return Err(ParameterErrors::one("file", text).into());
        }
        Err(MediaError::TooManyPixels) => {
            let text = "must be an image of at most 100 million pixels";
            return Err(ParameterErrors::one("file", text).into());
        }
        Err(MediaError::Folder(error)) => return Err(DatabaseError::of_file(&error).into()),
    };
    let now = state.clock.unix();
    let login = user.login.clone();
    let insert = move |db: &mut Db| {
        let user = permitted(db, &user.login, Action::Images)?;
        let id = images::insert(db, "", &file, user.id, now)?;
        Ok::<_, Error>(images::by_ids(db, &[id])?.remove(&id))
    };
    let image = state.pools.write_as(Some(&login), insert).await?;
    let image = image.ok_or_else(|| Error::Internal("a new image is missing".to_owned()))?;
    Ok(ImageJson::new(&image, urls))
}

/// Reads an image's metadata. The caller must have uploaded the image, or be allowed to see a
/// resource that uses it.
pub async fn find_image(state: &State, request: Request, id: i64) -> Result<ImageJson, Error> {
    read(state, request, move |context, _| {
        let found = images::by_ids(context.db, &[id])?;
        let is_shown = images::is_shown(context.db, id, &context.actor)?;
        let Some(image) = found.get(&id).filter(|_| is_shown) else {
            return Err(ParameterErrors::one("id", "must be the id of an image").into());
        };
        Ok(ImageJson::new(image, &context.urls))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use clap::Parser;
    use database::DatabaseSettings;
    use domain::SystemClock;
    use futures_util::future::join3;
    use testkit::Database;

    use super::super::import_progress::Pass;
    use super::*;
    use crate::config::Settings;
    use crate::model::role::Role;
    use crate::store::media::Media;
    use crate::store::{MIGRATIONS, users};

    const FILE: &str = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20270401T100000Z\r\n\
                        END:VEVENT\r\nEND:VCALENDAR\r\n";

    /// How long a request waits for the database, in milliseconds.
    const WAIT_MS: u64 = 20;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        site: Settings,
    }

    #[tokio::test]
    async fn batch_of_an_import_is_repeated_after_a_request_timeout() {
        let database = Database::in_file();
        let settings = DatabaseSettings { db_wait_ms: WAIT_MS, ..database.settings() };
        let migrations = [&auth::MIGRATIONS, &MIGRATIONS];
        let pools = settings.open(database.folder(), "test", &migrations).unwrap();
        let add = |db: &mut Db| users::add(db, "editor", "Editor", Role::Editor);
        let id = pools.write_blocking(add).unwrap();
        let user = User { id, login: "editor".to_owned(), role: Role::Editor };
        let urls = Urls { base: "http://localhost".to_owned(), ..Urls::default() };
        let (site, media) = (Line::parse_from(["calendar"]).site, Media::new("media".into()));
        let state = State::new(pools.clone(), SystemClock::shared(), site, media);
        let file = Arc::<[u8]>::from(FILE.as_bytes());
        let overview = Overview::of(&state, &*file).unwrap();
        let limits = ImportLimits { events: None, deadline: None };
        let mut import = Import::new(user, urls, limits, overview);
        import.prepare(&state, &mut Reader::new(Cursor::new(file)), Pass::Entries).unwrap();

        // Another writer keeps the database busy until a request queued after the batch times out.
        // By then, the batch's first attempt has also timed out.
        let (release, released) = mpsc::channel::<()>();
        let holder = pools.write(move |_| {
            let _ = released.recv();
            Ok::<_, DatabaseError>(())
        });
        let batch = write_batch(&state, import, Instant::now() + IMPORT_TIME);
        let request = async {
            let refused = pools.write(|_| Ok::<_, DatabaseError>(())).await;
            release.send(()).unwrap();
            refused
        };
        let (held, batch, refused) = join3(holder, batch, request).await;
        held.unwrap();
        assert!(matches!(refused, Err(DatabaseError::Busy)));
        let (import, _) = batch.unwrap();
        assert_eq!(import.into_report().created, 1);
    }
}
