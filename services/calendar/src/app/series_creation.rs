//! Creates series: the first event, the rule, and the other events.

use std::collections::HashMap;

use database::{DatabaseError, Db};

use super::context::RequestContext;
use super::event_writes;
use super::interrupt::Interrupt;
use super::series::{self, NewEvents, make_missing};
use super::series_names::free_name;
use super::series_plans::{invalid, plan_of};
use super::slugs::remember;
use super::subscribed_series::note_new;
use crate::error::Error;
use crate::ical::{Entry, Expansion};
use crate::model::change::EventChange;
use crate::model::event::Event;
use crate::model::notice::series_body;
use crate::model::role::{self, User};
use crate::model::series::{Membership, Plan, Series};
use crate::model::series_fields::Shared;
use crate::model::series_ids::{occurrence_of, plain_uid};
use crate::model::slug::{self, TRASHED};
use crate::model::subscription_parts::{Part, Parts};
use crate::model::urls::Urls;
use crate::state::Site;
use crate::store::series as stored;
use crate::store::{events, external_ids, series_events, series_origins, slugs, sql, webhooks};

/// Creates an event and, if it repeats, the rest of its series.
pub fn create(
    context: &mut RequestContext<'_>,
    user: &User,
    change: &EventChange,
) -> Result<Event, Interrupt> {
    let Some(recurrence) = &change.recurrence else {
        return event_writes::create_in(context, user, change);
    };
    let schedule = event_writes::schedule_of(&context.site.settings.site_timezone, change)?;
    let plan = plan_of(&change.schedule.as_given(&schedule), recurrence)?;
    let messages = webhooks::last_message(context.db)?;
    let first = event_writes::create_in(context, user, change)?;
    let mut series = new_series(context, &first, (plan, name_of(&first)))?;
    // A slug with this date belongs to a series of the same name, such as the later part of a split
    // series.
    let own = first.slug.strip_suffix(TRASHED).unwrap_or(&first.slug);
    let is_named_by_date = own == series.slug_of(series.plan.first());
    let is_event = change.date_slug.is_none()
        && slugs::is_taken(context.db, "events", &series.slug, first.id)?;
    if !is_named_by_date || is_event {
        series.slug = free_name(context.db, &series.slug, (0, first.id))?;
    }
    let own_slug = first_slug(context.db, &series, change, &first)?;
    begin(context, &first, series, own_slug, messages)
}

/// Returns the slug for a series' first event. Like the other events' slugs, it contains the date,
/// unless a load provides a slug other than the series slug, which is the series' path.
fn first_slug(
    db: &mut Db,
    series: &Series,
    change: &EventChange,
    first: &Event,
) -> Result<String, DatabaseError> {
    let own = first.slug.strip_suffix(TRASHED).unwrap_or(&first.slug);
    if change.date_slug.is_some() && own != series.slug {
        return Ok(first.slug.clone());
    }
    let suffix = if first.status.is_trashed() { TRASHED } else { "" };
    slugs::free(db, "events", &series.slug_of(series.plan.first()), suffix, first.id)
}

/// Returns the slug for an event that becomes the first one in a series. The event's old path
/// becomes the series' path. If the series has a different name or the event is unlisted, the old
/// path redirects to the event.
pub fn slug_as_date(
    db: &mut Db,
    series: &Series,
    change: &EventChange,
    event: &Event,
) -> Result<String, DatabaseError> {
    let slug = first_slug(db, series, change, event)?;
    if series.slug != event.slug || !event.listed {
        remember(db, "events", event.id, (&event.slug, &event.status), &slug)?;
    }
    Ok(slug)
}

/// Returns the name on which the slugs in a series that starts with this event are based.
pub fn name_of(first: &Event) -> String {
    let own = first.slug.strip_suffix(TRASHED).unwrap_or(&first.slug);
    slug::name_of_series(slug::dated(own).map_or(own, |(name, _)| name))
}

/// Builds a series that starts with this event.
pub fn new_series(
    context: &mut RequestContext<'_>,
    first: &Event,
    (plan, slug): (Plan, String),
) -> Result<Series, Error> {
    let uid = match &first.external_id {
        Some(uid) => uid.clone(),
        None => sql::random_id(context.db)?,
    };
    Ok(Series {
        id: 0,
        uid,
        slug,
        plan,
        most: context.site.settings.series_max,
        made_until: 0,
        due_utc: None,
        // Other events might have had ids with this UID before they were erased.
        sequence: first.sequence,
        modified_utc: 0,
    })
}

/// Returns the UID under which feeds have listed an event without an external id, unless another
/// event or series uses this UID now. In commands, this only works if PUBLIC_URL is set.
pub fn listed_uid(
    context: &mut RequestContext<'_>,
    event: &Event,
) -> Result<Option<String>, DatabaseError> {
    let base = context.site.public_url.clone().filter(|_| context.urls.base.is_empty());
    let urls = Urls { base: base.unwrap_or_else(|| context.urls.base.clone()), ..Urls::default() };
    let host = urls.host();
    if event.external_id.is_some() || host.is_empty() {
        return Ok(None);
    }
    let uid = plain_uid(event.id, host);
    let is_used = events::find_by_external_id(context.db, &uid)?.is_some()
        || stored::find_by_uid(context.db, &uid)?.is_some();
    Ok(Some(uid).filter(|_| !is_used))
}

/// Stores a new series and creates its other events. The first one already exists.
pub fn begin(
    context: &mut RequestContext<'_>,
    first: &Event,
    mut series: Series,
    own_slug: String,
    messages: i64,
) -> Result<Event, Interrupt> {
    let user = context.user()?;
    let (db, site, now) = (&mut *context.db, context.site, context.now);
    let seconds = now.as_second();
    let mut expansion = expanded(site, &series, now)?;
    series.made_until = expansion.repetition.made_until;
    series.due_utc = expansion.repetition.due_utc;
    let mut series = stored::insert(db, &series)?;
    series_origins::begin(db, series.id, first.id)?;
    exclude_forbidden(db, &user, &mut series, &mut expansion)?;
    let old = require(db, first.id)?;
    let mut new = old.clone();
    (new.event.slug, new.event.external_id) = (own_slug, Some(series.uid.clone()));
    // The event might have been part of another series.
    new.event.parent = None;
    new.event.modified_utc = seconds;
    slugs::forget_former(db, "events", &new.event.slug)?;
    // The old path of an unlisted event redirects to the event.
    if first.listed {
        slugs::forget_former(db, "events", &series.slug)?;
    }
    events::update(db, (&old.event, &old.links), (&new.event, &new.links))?;
    let (event, occurrence) = (first.id, series.plan.first());
    series_events::join(
        db,
        &Membership { event, series: series.id, occurrence, changed: Vec::new() },
    )?;
    let new_events = NewEvents { template: &new, moved: None, names: None };
    make_missing(db, &series, &new_events, &expansion, (i64::MIN, seconds))?;
    note_new(db, &series, (&Parts::of([Part::Dates]), false))?;
    let body = series_body("series.created", series.id, event, seconds);
    webhooks::combine_after(db, messages, &body, seconds)?;
    Ok(new.event)
}

/// Expands a series into occurrences.
///
/// # Errors
///
/// Returns an error if the rule doesn't match any date, or if there are too many occurrences.
pub fn expanded(site: &Site, series: &Series, now: jiff::Timestamp) -> Result<Expansion, Error> {
    let found = series::expand(site, series, now).ok_or_else(|| {
        invalid("recurrence", "must have a rule with occurrences that can be listed")
    })?;
    if found.repetition.is_cut {
        let (most, months) = (series.most, site.settings.series_ahead);
        let text = format!("must have at most {most} occurrences in the next {months} months");
        return Err(invalid("recurrence", &text));
    }
    Ok(found)
}

/// Excludes occurrences whose events left the series, if the user isn't allowed to change those
/// events. Otherwise, the rule would restore them and later also events beyond the horizon.
pub fn exclude_forbidden(
    db: &mut Db,
    user: &User,
    series: &mut Series,
    expansion: &mut Expansion,
) -> Result<(), DatabaseError> {
    let former_uid = occurrence_of(&series.uid).map(|(uid, _)| uid.to_owned());
    let mut forbidden = Vec::new();
    for uid in former_uid.iter().chain([&series.uid]) {
        let known = external_ids::of_uid(db, uid)?;
        let ids: Vec<i64> = known.iter().map(|(id, ..)| *id).collect();
        let members: HashMap<i64, i64> =
            series_events::ids_of_events(db, &ids)?.into_iter().collect();
        for (id, name, _) in known {
            let moment = match name == series.uid {
                true => Some(series.plan.first()),
                false => Entry::moment_of(uid, &name).and_then(|key| series.plan.moment(key)),
            };
            if let Some(moment) = moment
                && !members.contains_key(&id)
                && let Some(event) = events::find(db, id)?
                && !role::may_edit(user, &event.status, event.previous.as_ref(), event.author)
                && series.plan.has(moment)
            {
                forbidden.push(moment);
            }
        }
    }
    if forbidden.is_empty() {
        return Ok(());
    }
    expansion.occurrences.retain(|(moment, ..)| !forbidden.contains(moment));
    let keys: Vec<String> = forbidden.iter().map(|moment| series.plan.key(*moment)).collect();
    series.plan.exdates.extend(keys);
    series.plan.exdates.sort_unstable();
    series.plan.exdates.dedup();
    stored::update(db, series)
}

/// Reads an event with all fields that a series can share.
///
/// # Errors
/// Returns an error if the event does not exist.
pub fn require(db: &mut Db, id: i64) -> Result<Shared, Error> {
    series::shared(db, id)?.ok_or(Error::EventNotFound)
}
