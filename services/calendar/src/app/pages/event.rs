//! The event page.

use super::super::passwords::opens;
use super::super::transactions::read;
use super::listing::PageRequest;
use super::named_series;
use crate::error::Error;
use crate::model::role;
use crate::model::slug::lookup_form;
use crate::state::State;
use crate::store::included::{self, EventSelector};
use crate::store::{event_statuses, events, series_events, series_names};
use crate::wire::pages::event::{self, EventContext, EventView};
use crate::wire::render_context::RenderContext;

/// Number of other occurrences of the same series to show on the page.
const NEXT_DATES: i64 = 5;

/// Reads an event. A password-protected event stays locked unless the request sends the password.
///
/// # Errors
/// An unpublished event is reported as not found.
pub async fn event_page(
    state: &State,
    request: &PageRequest,
    slug: &str,
    password: Option<String>,
) -> Result<EventView, Error> {
    let slug = lookup_form(slug);
    read(state, request.of(&[]), move |context, _| {
        let (found, included) = included::of_events(context.db, EventSelector::Slug(&slug))?;
        let shown = |event: &&_| is_shown(event);
        let event = found.iter().find(shown).ok_or(Error::NoRoute)?;
        let included = included.readable_by(&None);
        let (urls, links) = (context.urls.clone(), context.urls.relative());
        let absolute = RenderContext {
            urls: &urls,
            zone: &context.site.settings.site_timezone,
            currency: &context.site.currency,
            language: context.language(),
        };
        let view = RenderContext { urls: &links, ..absolute };
        let page = EventContext { view, absolute, now: context.now.as_second() };
        let is_open = opens(event, password.as_deref().unwrap_or_default());
        let mut shown = match is_open {
            true => event::event(event, &included, page),
            false => event::locked(event, &included, page),
        };
        if let Some(one) = included.series.get(&event.id).filter(|_| is_open) {
            let name = &one.series.slug;
            let has_file = match events::find_by_slug(context.db, name)? {
                Some(other) => named_series::is_named_like(context.db, &other)?,
                None => true,
            };
            if event.is_public() && has_file {
                shown.series_path = event::path_of(name);
            }
            let after = event.schedule.start_utc.max(page.now);
            let ids = series_events::upcoming(context.db, one.series.id, after, NEXT_DATES)?;
            let statuses = event_statuses::of_events(context.db, &ids)?;
            shown.next = event::dates(&events::by_ids(context.db, &ids)?, &statuses, page.view);
        }
        Ok(shown)
    })
    .await
}

/// Finds a series by its current slug or an old one. Returns the path of its next event, or the
/// last event if all are over, relative to the base URL. Also finds events of a removed series that
/// were restored one by one.
///
/// # Errors
///
/// Returns a not-found error for a series without public events.
pub async fn next_of_series(
    state: &State,
    request: &PageRequest,
    slug: &str,
) -> Result<String, Error> {
    let slug = lookup_form(slug);
    read(state, request.of(&[]), move |context, _| {
        let now = context.now.as_second();
        let next = match named_series::find(context.db, &slug, now)? {
            Some((_, next)) => Some(next),
            None => series_names::next_restored(context.db, &slug, now)?,
        };
        let id = next.ok_or(Error::NoRoute)?;
        let event = events::find(context.db, id)?.ok_or(Error::NoRoute)?;
        let address = context.urls.event_page(&event.slug);
        Ok(address.strip_prefix(&context.urls.base).unwrap_or(&address).to_owned())
    })
    .await
}

fn is_shown(event: &crate::model::event::Event) -> bool {
    role::may_read(&None, &event.status, event.author)
}
