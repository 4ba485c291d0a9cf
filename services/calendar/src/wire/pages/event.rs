//! The view model for the event page.

use std::collections::HashMap;

use super::Link;
use super::card::{place, price, summary, terms};
use super::images::origins;
use super::linked::{ImageView, LinkedView, image_view, linked, web};
use super::structured_data;
use crate::model::event::{Event, Links};
use crate::model::event_status::EventStatus;
use crate::model::html;
use crate::model::image::web_url;
use crate::model::included::Included;
use crate::model::schedule::instant_from_seconds;
use crate::model::spoken;
use crate::model::urls::Urls;
use crate::wire::dates::iso;
use crate::wire::render_context::RenderContext;
use crate::wire::series_data::InSeriesUntil;

/// An event as shown on its page. A locked event only has a title and times.
#[derive(Clone, Debug, Default)]
pub struct EventView {
    pub title: String,
    /// Path of the page, relative to the site.
    pub path: String,
    pub when: String,
    /// How often the event takes place. Empty if it isn't in a series.
    pub repeats: String,
    /// Path of the series' page, relative to the site. Empty if there isn't one.
    pub series_path: String,
    /// Links to the series' upcoming events.
    pub next: Vec<Link>,
    /// The start in ISO format.
    pub start: String,
    /// The zone and its abbreviation. Empty for all-day events.
    pub zone: String,
    pub place: String,
    pub image: Option<ImageView>,
    /// HTML.
    pub description: String,
    pub summary: String,
    pub cost: String,
    pub website: String,
    /// Host name of the website.
    pub website_host: String,
    pub venues: Vec<LinkedView>,
    pub organizers: Vec<LinkedView>,
    pub categories: Vec<Link>,
    pub tags: Vec<Link>,
    pub over: bool,
    /// The status, e.g. `Cancelled`. Empty if the event is going ahead as announced.
    pub status: &'static str,
    /// The reason for the status. May be empty.
    pub status_reason: String,
    pub locked: bool,
    /// JSON-LD. Empty if the event isn't public.
    pub data: String,
    /// Origins of externally hosted images, for the content security policy.
    pub origins: Vec<String>,
}

/// Context for rendering an event.
#[derive(Clone, Copy)]
pub struct EventContext<'a> {
    /// For links within the site, which don't include a scheme or host.
    pub view: RenderContext<'a>,
    /// For absolute URLs.
    pub absolute: RenderContext<'a>,
    /// The current time in Unix seconds.
    pub now: i64,
}

/// Renders only an event's title and times.
pub fn locked(event: &Event, included: &Included, context: EventContext<'_>) -> EventView {
    let schedule = &event.schedule;
    let day = spoken::ends(schedule).0.date();
    let abbreviation = schedule.zone.abbreviation(instant_from_seconds(schedule.start_utc));
    let zone = match (schedule.all_day, abbreviation == schedule.zone.name()) {
        (true, _) => String::new(),
        (false, true) => abbreviation,
        (false, false) => format!("{} ({abbreviation})", schedule.zone.name()),
    };
    EventView {
        title: html::plain(&event.title),
        path: path_of(&event.slug),
        when: spoken::span(schedule, context.view.language),
        start: match schedule.all_day {
            true => day.to_string(),
            false => iso(&schedule.zone, schedule.start_utc),
        },
        zone,
        over: schedule.end_utc < context.now,
        status: included.occurring(event.id).word(context.view.language.words()),
        locked: true,
        ..EventView::default()
    }
}

/// Returns the path of an event page or a series page, relative to the site.
pub fn path_of(slug: &str) -> String {
    let path = Urls { base: String::new(), alias: false, language: None }.event_page(slug);
    path.trim_start_matches('/').to_owned()
}

/// Renders links to the next events in a series. If an event isn't going ahead as announced, its
/// link starts with its status.
pub fn dates(
    events: &[Event],
    statuses: &HashMap<i64, EventStatus>,
    view: RenderContext<'_>,
) -> Vec<Link> {
    let words = view.language.words();
    let link = |event: &Event| {
        let date = spoken::span(&event.schedule, view.language);
        let status = statuses.get(&event.id).map(|status| status.occurring.word(words));
        Link {
            text: match status.unwrap_or_default() {
                "" => date,
                status => (words.status_and_title)(status, &date),
            },
            href: view.urls.event_page(&event.slug),
        }
    };
    events.iter().map(link).collect()
}

/// Renders an event.
pub fn event(event: &Event, included: &Included, context: EventContext<'_>) -> EventView {
    let EventContext { view, absolute, .. } = context;
    let none = Links::default();
    let links = included.links.get(&event.id).unwrap_or(&none);
    let venues: Vec<_> = links.venues.iter().filter_map(|id| included.venues.get(id)).collect();
    let organizers = links.organizers.iter().filter_map(|id| included.organizers.get(id));
    let image = image_view(event.image, included, view);
    let description = html::paragraphs(&event.description);
    let status = included.statuses.get(&event.id);
    let series = included.series.get(&event.id).map(InSeriesUntil::of);
    let public = event.is_public() && event.password.is_none();
    EventView {
        place: venues.first().map(|venue| place(venue, view.language)).unwrap_or_default(),
        origins: origins(image.as_ref().map(|image| image.src.as_str()), &description),
        image,
        description: html::with_focusable(&description, &html::plain(&event.title)),
        summary: summary(event),
        cost: price(event, view),
        website: web(&event.website),
        website_host: host(&event.website),
        venues: venues.iter().map(|row| linked(row, included, view)).collect(),
        organizers: organizers.map(|row| linked(row, included, view)).collect(),
        categories: terms(&links.categories, included, view),
        tags: terms(&links.tags, included, view),
        locked: false,
        repeats: series.map(|series| series.spoken(view.language)).unwrap_or_default(),
        status_reason: status.map(|status| html::plain(&status.reason)).unwrap_or_default(),
        data: match public {
            true => structured_data::event((event, links, series), included, absolute).to_string(),
            false => String::new(),
        },
        ..locked(event, included, context)
    }
}

/// Returns the host of a URL, without `www.`.
fn host(text: &str) -> String {
    let url = web_url(text);
    let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}
