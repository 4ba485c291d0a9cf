//! What becomes of files that requests carry: calendars and images.

use std::time::{Duration, Instant};

use super::context::RequestContext;
use super::imports::{Import, ImportLimits, Overview};
use super::request::Request;
use super::transactions::read;
use crate::error::Error;
use crate::model::role::{self, Action, User};
use crate::state::State;
use crate::store::images;
use crate::store::media::MediaError;
use crate::store::remote_images::MAX_BYTES;
use crate::wire::ical::Reader;
use crate::wire::image::ImageJson;
use crate::wire::import::ImportJson;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::urls::Urls;

/// The largest image, in bytes.
pub const IMAGE_BYTES: usize = MAX_BYTES;

/// How long a request may import.
const IMPORT_TIME: Duration = Duration::from_secs(30);

/// The most events that a request imports.
const IMPORT_EVENTS: usize = 20_000;

/// Returns who sends a file; fails where they may not.
pub async fn permit(state: &State, login: Option<String>, action: Action) -> Result<User, Error> {
    let login = login.ok_or(Error::Unauthorized)?;
    let look_up = move |db: &mut database::Db| {
        let actor = RequestContext::actor(db, Some(&login))?;
        actor.filter(|user| role::may(user, action)).ok_or(Error::Forbidden)
    };
    state.pools.read(look_up).await
}

/// Imports a calendar.
pub async fn import(
    state: &State,
    user: User,
    urls: Urls,
    file: Vec<u8>,
) -> Result<ImportJson, Error> {
    let overview =
        Overview::of(state, &*file).map_err(|error| Error::Internal(error.to_string()))?;
    if !overview.is_calendar {
        return Err(ParameterErrors::one("file", "must be an iCalendar file").into());
    }
    let deadline = Some(Instant::now() + IMPORT_TIME);
    let limits = ImportLimits { events: Some(IMPORT_EVENTS), deadline };
    let mut import = Import::new(user, urls, limits, overview);
    let file = std::sync::Arc::<[u8]>::from(file);
    for pass in import.passes() {
        let mut reader = Reader::new(std::io::Cursor::new(file.clone()));
        loop {
            let own = state.clone();
            let batch = move |db: &mut database::Db| {
                let more = import.write(&own, db, &mut reader, pass)?;
                Ok::<_, Error>((import, reader, more))
            };
            let (after, rest, more) = state.pools.write(batch).await?;
            (import, reader) = (after, rest);
            if !more {
                break;
            }
        }
    }
    Ok(import.into_report())
}

/// Stores an image.
pub async fn image(
    state: &State,
    user: User,
    urls: &Urls,
    bytes: Vec<u8>,
) -> Result<ImageJson, Error> {
    let media = state.media.clone();
    let stored = tokio::task::spawn_blocking(move || media.store(&bytes)).await;
    let file = match stored.map_err(|error| Error::Internal(error.to_string()))? {
        Ok(file) => file,
        Err(MediaError::UnknownFormat) => {
            let text = "must be a JPEG, PNG, GIF or WebP image";
            return Err(ParameterErrors::one("file", text).into());
        }
        Err(error) => return Err(Error::Internal(error.to_string())),
    };
    let now = state.clock.unix();
    let insert = move |db: &mut database::Db| {
        let id = images::insert(db, "", &file, user.id, now)?;
        images::by_ids(db, &[id]).map(|mut found| found.remove(&id))
    };
    let image = state.pools.write(insert).await?;
    let image = image.ok_or_else(|| Error::Internal("a new image is gone".to_owned()))?;
    Ok(ImageJson::new(&image, urls))
}

/// Reads what is known of an image.
pub async fn find_image(state: &State, request: Request, id: i64) -> Result<ImageJson, Error> {
    read(state, request, move |context, _| {
        let found = images::by_ids(context.db, &[id])?;
        let Some(image) = found.get(&id) else {
            return Err(ParameterErrors::one("id", "must be the id of an image").into());
        };
        Ok(ImageJson::new(image, &context.urls))
    })
    .await
}
