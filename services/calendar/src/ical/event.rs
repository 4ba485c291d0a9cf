//! Writes events in iCalendar format.

use std::iter;

use jiff::Timestamp;
use jiff::civil::Date;

use super::lines::{bare, escaped, line, quoted, text_line};
use super::plan;
use super::zones::{local, needs_rules};
use crate::model::event::{Event, Links};
use crate::model::event_status::Occurring;
use crate::model::html;
use crate::model::image::{Format, Image};
use crate::model::included::Included;
use crate::model::linked::Linked;
use crate::model::schedule::{instant_from_seconds, wall_from_seconds};
use crate::model::series::Series;
use crate::model::series_ids::{occurrence_of, plain_uid, single_uid};
use crate::model::urls::Urls;
use crate::model::zone::Zone;

/// The property for an event's time zone if its times are written in UTC. This is the case for
/// fixed offsets, which don't have any rules to export, and for ambiguous local times.
pub const OWN_ZONE: &str = "X-QUINTET-TIMEZONE";

/// Feed settings that affect how events are written.
#[derive(Clone, Copy)]
pub struct FeedContext<'a> {
    pub urls: &'a Urls,
    /// The UID suffix for events without an external id.
    pub host: &'a str,
    /// This calendar's own id. It is the UID suffix for occurrences that are exported individually.
    pub calendar: &'a str,
}

/// How to write an event.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// As a standalone event. An occurrence of a series gets its own UID.
    Single,
    /// As a standalone event with its external id as the UID. Calendars that have imported the
    /// series know a detached occurrence by this id. For the first occurrence, this cancels the
    /// whole series.
    Withdrawn,
    /// As a whole series with a link to the page that has this slug. The event provides the fields
    /// shared by all occurrences.
    Series(&'a Series, &'a str),
    /// As an override of the series' occurrence at this moment.
    Override(&'a Series, i64),
}

/// Writes a standalone event, without details if it is password-protected or in the trash.
pub fn event(out: &mut String, event: &Event, included: &Included, feed: FeedContext<'_>) {
    write_event(out, event, included, feed, Form::Single);
}

/// Writes an event in the given form, without details if it is password-protected or in the trash.
pub fn write_event(
    out: &mut String,
    event: &Event,
    included: &Included,
    feed: FeedContext<'_>,
    form: Form<'_>,
) {
    let series = included.series.get(&event.id).map(|one| &*one.series);
    let uid = uid(event, (series, form), feed);
    // If the event has the series UID, other feeds use this UID for the whole series.
    let series = series.filter(|series| series.uid == uid);
    let modified = match (form, series) {
        (Form::Withdrawn, Some(series)) => event.modified_utc.max(series.modified_utc),
        _ => event.modified_utc,
    };
    let modified = utc(modified);
    line(out, "BEGIN", "VEVENT");
    text_line(out, "UID", &uid);
    line(out, "DTSTAMP", &modified);
    line(out, "LAST-MODIFIED", &modified);
    line(out, "CREATED", &utc(event.created_utc()));
    let sequence = match form {
        // Before the series was rescheduled, a different event might have overridden this
        // occurrence.
        Form::Series(series, _) | Form::Override(series, _) => series.sequence,
        Form::Single | Form::Withdrawn => {
            series.map_or(event.sequence, |series| event.sequence.max(series.sequence))
        }
    };
    line(out, "SEQUENCE", &sequence.to_string());
    match form {
        Form::Series(series, _) => {
            plan::lines(out, &series.plan);
            let zone = &event.schedule.zone;
            if !series.plan.all_day && *zone != series.plan.zone {
                line(out, OWN_ZONE, zone.name());
            }
        }
        Form::Override(series, moment) => {
            plan::dates(out, "RECURRENCE-ID", &series.plan, &[moment]);
            times(out, event);
        }
        Form::Single | Form::Withdrawn => times(out, event),
    }
    text_line(out, "SUMMARY", &html::plain(&event.title));
    // A cancelled status makes subscribed clients remove the event.
    let is_trashed = event.status.is_trashed();
    match included.occurring(event.id) {
        _ if is_trashed => line(out, "STATUS", "CANCELLED"),
        Occurring::Cancelled => line(out, "STATUS", "CANCELLED"),
        // iCalendar has no status for this, and TENTATIVE comes closest. The announced times are
        // still included, but no longer certain.
        Occurring::Postponed => line(out, "STATUS", "TENTATIVE"),
        // Clients accept the new times because SEQUENCE has increased.
        Occurring::Rescheduled | Occurring::Scheduled => {}
    }
    if is_trashed {
        line(out, "END", "VEVENT");
        return;
    }
    if event.password.is_none() {
        details(out, event, included, feed);
    }
    let name = match form {
        Form::Series(_, page) => page,
        Form::Single | Form::Withdrawn | Form::Override(..) => &event.slug,
    };
    line(out, "URL", &bare(&feed.urls.event_page(name)));
    line(out, "END", "VEVENT");
}

/// Returns the UID under which to write an event.
fn uid(
    event: &Event,
    (series, form): (Option<&Series>, Form<'_>),
    feed: FeedContext<'_>,
) -> String {
    let is_date = match form {
        Form::Series(series, _) | Form::Override(series, _) => return series.uid.clone(),
        Form::Withdrawn => false,
        Form::Single => {
            // A detached occurrence in the trash was exported individually while it was part of the
            // series.
            let external_id = event.external_id.as_deref().filter(|_| event.status.is_trashed());
            series.is_some() || external_id.is_some_and(|id| occurrence_of(id).is_some())
        }
    };
    match &event.external_id {
        _ if is_date => single_uid(feed.calendar, event.id),
        Some(id) => id.clone(),
        None => plain_uid(event.id, feed.host),
    }
}

fn times(out: &mut String, event: &Event) {
    let schedule = &event.schedule;
    if schedule.all_day {
        let day = |date: Date| date.strftime("%Y%m%d").to_string();
        let last = wall_from_seconds(schedule.end_local);
        let behind = last.date().tomorrow().unwrap_or(last.date());
        line(out, "DTSTART;VALUE=DATE", &day(wall_from_seconds(schedule.start_local).date()));
        line(out, "DTEND;VALUE=DATE", &day(behind));
        return;
    }
    let zone = &schedule.zone;
    let mut is_clear = true;
    let mut time = |name: &str, at: i64, wall: i64| {
        let is_unambiguous = zone.is_unambiguous(instant_from_seconds(at));
        is_clear &= is_unambiguous;
        match needs_rules(zone) && is_unambiguous {
            true => {
                let name = format!("{name};TZID={}", zone.name());
                line(out, &name, &local(wall_from_seconds(wall)));
            }
            false => line(out, name, &utc(at)),
        }
    };
    time("DTSTART", schedule.start_utc, schedule.start_local);
    time("DTEND", schedule.end_utc, schedule.end_local);
    if !is_clear || (zone.is_fixed() && *zone != Zone::utc()) {
        line(out, OWN_ZONE, zone.name());
    }
}

fn details(out: &mut String, event: &Event, included: &Included, feed: FeedContext<'_>) {
    let none = Links::default();
    let links = included.links.get(&event.id).unwrap_or(&none);
    text_line(out, "DESCRIPTION", &html::text(&event.description));
    let venue = links.venues.iter().find_map(|id| included.venues.get(id));
    if let Some(venue) = venue {
        text_line(out, "LOCATION", &location(venue));
        if let Some(point) = venue.place.geo {
            line(out, "GEO", &format!("{};{}", point.lat, point.lng));
        }
    }
    let terms = links.categories.iter().chain(&links.tags);
    let names: Vec<String> =
        terms.filter_map(|id| included.terms.get(id)).map(|term| escaped(&term.line())).collect();
    if !names.is_empty() {
        line(out, "CATEGORIES", &names.join(","));
    }
    let organizer = links.organizers.iter().find_map(|id| included.organizers.get(id));
    if let Some(organizer) = organizer {
        let name = format!("ORGANIZER;CN={}", quoted(&html::plain(&organizer.name)));
        line(out, &name, &address(organizer, feed.urls));
    }
    if let Some(image) = event.image.and_then(|id| included.images.get(&id)) {
        let name = match media_type(image) {
            Some(media_type) => format!("ATTACH;FMTTYPE={media_type}"),
            None => "ATTACH".to_owned(),
        };
        line(out, &name, &bare(&feed.urls.image(image)));
    }
}

/// Formats a venue's name and address as a single line.
pub fn location(venue: &Linked) -> String {
    let place = &venue.place;
    let parts = [&place.address, &place.city, &place.stateprovince, &place.zip, &place.country];
    let parts = parts.into_iter().map(|part| html::without_tags(part).trim().to_owned());
    // Unlike the other fields, the name can contain literal angle brackets.
    let parts = iter::once(html::plain(&venue.name)).chain(parts);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns a `mailto:` URI if the organizer has a usable email address, or else the URL of the
/// organizer's page.
fn address(organizer: &Linked, urls: &Urls) -> String {
    let mail = organizer.email.trim();
    let is_mail =
        mail.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
            && mail.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"".contains(&byte));
    match is_mail {
        true => format!("mailto:{mail}"),
        false => bare(&urls.linked_page(organizer.kind, &organizer.slug)),
    }
}

/// Determines an image's media type from its file extension, or returns `None` if it is unknown.
fn media_type(image: &Image) -> Option<&'static str> {
    let extension = image.extension.to_ascii_lowercase();
    let extension = if extension == "jpeg" { "jpg" } else { extension.as_str() };
    let format = Format::ALL.into_iter().find(|format| format.extension() == extension);
    format.map(Format::media_type)
}

fn utc(seconds: i64) -> String {
    let at: Timestamp = instant_from_seconds(seconds);
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}
