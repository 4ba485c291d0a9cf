//! Calendar files that pages link to.

use database::{DatabaseError, Db};
use jiff::ToSpan as _;
use jiff::civil::Date;

use super::super::feeds::{self, Feed};
use super::super::transactions::read;
use super::listing::{ListParameters, PageRequest};
use super::named_series;
use super::subjects::{find_linked, find_term};
use crate::error::Error;
use crate::model::event::Event;
use crate::model::linked::Kind;
use crate::model::role;
use crate::model::slug::{TRASHED, lookup_form, with_suffix};
use crate::model::status::Status;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::store::{events, feeds as stored_feeds, series_events, slugs};
use crate::wire::pages::query::PageQuery;

/// Reads a list's calendar file. It includes events from the last few days, because calendar apps
/// would otherwise delete them as soon as they end.
pub async fn subscription(state: &State, request: &PageRequest) -> Result<Feed, Error> {
    calendar(state, request, request.query.subscription(kept_since(state))).await
}

/// Returns the list parameters for a subject's calendar file.
fn events_of(state: &State, parameter: (&'static str, String)) -> ListParameters {
    let mut pairs = PageQuery::default().subscription(kept_since(state));
    pairs.push(parameter);
    pairs
}

/// Returns the cutoff date. Calendar files only contain events that end after it.
pub(super) fn kept_since(state: &State) -> Date {
    let settings = &state.site.settings;
    let today = settings.site_timezone.wall(state.clock.now()).date();
    today.checked_sub((settings.ical_past_days + 1).days()).unwrap_or(today)
}

/// Reads a list's calendar file.
pub async fn calendar(
    state: &State,
    request: &PageRequest,
    mut pairs: ListParameters,
) -> Result<Feed, Error> {
    let request = PageRequest { urls: request.urls.in_default_language(), ..request.clone() };
    pairs.extend(request.query.outlook.then(|| ("outlook-ical", "1".to_owned())));
    feeds::feed(state, request.of(&pairs)).await
}

/// Reads an event's calendar file. If the event has the same slug as its series, returns the
/// series' file instead.
pub async fn calendar_of_event(
    state: &State,
    request: &PageRequest,
    slug: &str,
) -> Result<Feed, Error> {
    let slug = lookup_form(slug);
    let (id, is_listed, dates) = read(state, request.of(&[]), move |context, _| {
        let found = events::find_by_slug(context.db, &slug)?;
        let shown = found.filter(|event| {
            event.status.is_published() && role::may_read(&None, &event.status, event.author)
        });
        let event = shown.ok_or(Error::NoRoute)?;
        let dates = match named_series::is_named_like(context.db, &event)? {
            true => series_events::events_of_slug(context.db, &event.slug)?,
            false => Vec::new(),
        };
        Ok((event.id, event.listed, dates))
    })
    .await?;
    if !dates.is_empty() {
        return series_file(state, request, dates).await;
    }
    let feed = calendar(state, request, vec![("include", id.to_string())]).await?;
    Ok(if is_listed { feed } else { feed.of_unlisted(id) })
}

/// Reads the calendar file of the series with this slug, including its past occurrences and, if it
/// was split, all its parts.
///
/// # Errors
///
/// Returns a not-found error for a series without public events.
pub async fn calendar_of_series(
    state: &State,
    request: &PageRequest,
    slug: &str,
) -> Result<Feed, Error> {
    let slug = lookup_form(slug);
    let ids = read(state, request.of(&[]), move |context, _| {
        let now = context.now.as_second();
        let (slug, _) = named_series::find(context.db, &slug, now)?.ok_or(Error::NoRoute)?;
        Ok(series_events::events_of_slug(context.db, &slug)?)
    })
    .await?;
    series_file(state, request, ids).await
}

/// Reads the calendar file of a trashed event or series, which feeds still show as cancelled. If
/// the series was removed and single occurrences were restored, these are included as well.
///
/// # Errors
///
/// Returns an error if feeds don't include the events, e.g. because they weren't public.
pub async fn calendar_of_trashed(
    state: &State,
    request: &PageRequest,
    slug: &str,
) -> Result<Feed, Error> {
    let slug = lookup_form(slug);
    let (of_series, event) = read(state, request.of(&[]), move |context, _| {
        let since = feeds::cancelled_since(context.now.as_second());
        let dates = named_series::all_dates(context.db, &slug)?;
        if stored_feeds::have_any(context.db, &dates, since)? {
            return Ok((dates, None));
        }
        let event = trashed_event(context.db, &slug)?.ok_or(Error::NoRoute)?;
        let was_published = event.previous.as_ref().is_some_and(Status::is_published);
        let is_shown = match event.listed {
            true => stored_feeds::have_any(context.db, &[event.id], since)?,
            // For events in the trash, this is the deletion date.
            false => was_published && event.modified_utc >= since,
        };
        if is_shown { Ok((Vec::new(), Some(event))) } else { Err(Error::NoRoute) }
    })
    .await?;
    let Some(Event { id, listed, .. }) = event else {
        return series_file(state, request, of_series).await;
    };
    let feed = calendar(state, request, vec![("include", id.to_string())]).await?;
    Ok(if listed { feed.of_single_dates(vec![id]) } else { feed.of_unlisted(id) })
}

/// Finds a trashed event by the slug it had before it was trashed, or by an earlier slug.
fn trashed_event(db: &mut Db, slug: &str) -> Result<Option<Event>, DatabaseError> {
    if let Some(event) = events::find_by_slug(db, &with_suffix(slug, TRASHED))? {
        return Ok(Some(event));
    }
    let former = match slugs::owner_of_former(db, "events", slug)? {
        Some(id) => events::find(db, id)?,
        None => None,
    };
    Ok(former.filter(|event| event.status.is_trashed()))
}

/// Reads the calendar file for the whole series that these events belong to.
async fn series_file(
    state: &State,
    request: &PageRequest,
    events: Vec<i64>,
) -> Result<Feed, Error> {
    let first = events.first().map(i64::to_string).unwrap_or_default();
    let feed = calendar(state, request, vec![("include", first)]).await?;
    Ok(feed.of_whole_series(events))
}

/// Reads a venue's or organizer's calendar file.
pub async fn calendar_of_linked(
    state: &State,
    request: &PageRequest,
    kind: Kind,
    slug: &str,
) -> Result<Feed, Error> {
    let slug = lookup_form(slug);
    let id =
        read(
            state,
            request.of(&[]),
            move |context, _| Ok(find_linked(context.db, kind, &slug)?.id),
        )
        .await?;
    calendar(state, request, events_of(state, (kind.word(), id.to_string()))).await
}

/// Reads a category's or tag's calendar file.
pub async fn calendar_of_term(
    state: &State,
    request: &PageRequest,
    taxonomy: Taxonomy,
    slug: &str,
) -> Result<Feed, Error> {
    let slug = lookup_form(slug);
    let slug = read(state, request.of(&[]), move |context, _| {
        Ok(find_term(context.db, taxonomy, &slug)?.slug)
    })
    .await?;
    calendar(state, request, events_of(state, (taxonomy.collection(), slug))).await
}
