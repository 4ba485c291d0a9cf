//! The event page.

use super::super::passwords::opens;
use super::super::transactions::read;
use super::listing::PageRequest;
use crate::error::Error;
use crate::model::role;
use crate::model::slug::lookup_form;
use crate::state::State;
use crate::store::included::{self, EventSelector};
use crate::wire::pages::event::{self, EventContext, EventView};
use crate::wire::render_context::RenderContext;

/// Reads an event. A password-protected event stays locked unless the request has the password.
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
        let links = context.urls.relative();
        let absolute = context.render();
        let view = RenderContext { urls: &links, ..absolute };
        let context = EventContext { view, absolute, now: context.now.as_second() };
        Ok(match opens(event, password.as_deref().unwrap_or_default()) {
            true => event::event(event, &included, context),
            false => event::locked(event, &included, context),
        })
    })
    .await
}

fn is_shown(event: &crate::model::event::Event) -> bool {
    role::may_read(&None, &event.status, event.author)
}
