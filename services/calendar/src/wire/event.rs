//! Events in responses.

use serde::Serialize;
use utoipa::ToSchema;

use super::dates::{DateDetails, details, written, written_in};
use super::image::{ImageField, ImageJson};
use super::json_ld::{self, LinkedData};
use super::linked::{self, OrganizerJson, VenueJson};
use super::recurrence::{self, SeriesJson};
use super::render_context::RenderContext;
use super::term::{self, EmbeddedTerm};
use crate::model::cost::{self, Cost};
use crate::model::event::{Event, Links};
use crate::model::html;
use crate::model::included::Included;

/// An event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Event, example = json!(super::examples::event()))]
pub struct EventJson {
    pub id: i64,
    pub global_id: String,
    pub global_id_lineage: Vec<String>,
    /// User id of the author, as a string.
    pub author: String,
    pub status: String,
    pub date: String,
    pub date_utc: String,
    pub modified: String,
    pub modified_utc: String,
    pub url: String,
    pub rest_url: String,
    pub title: String,
    pub description: String,
    pub excerpt: String,
    pub slug: String,
    pub image: ImageField,
    /// Whether this is an all-day event. Like the other flags, null in lists if the event is
    /// password-protected.
    pub all_day: Option<bool>,
    pub start_date: String,
    pub start_date_details: DateDetails,
    pub end_date: String,
    pub end_date_details: DateDetails,
    pub utc_start_date: String,
    pub utc_start_date_details: DateDetails,
    pub utc_end_date: String,
    pub utc_end_date_details: DateDetails,
    pub timezone: String,
    pub timezone_abbr: String,
    pub cost: String,
    pub cost_details: CostDetails,
    pub website: String,
    pub show_map: Option<bool>,
    pub show_map_link: Option<bool>,
    pub hide_from_listings: Option<bool>,
    pub sticky: Option<bool>,
    pub featured: Option<bool>,
    pub categories: Vec<EmbeddedTerm>,
    pub tags: Vec<EmbeddedTerm>,
    pub venue: VenueField,
    pub organizer: Vec<OrganizerJson>,
    /// Reserved for future use. Always empty.
    pub custom_fields: Vec<String>,
    /// The event as schema.org JSON-LD. Only present when a single event is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_ld: Option<LinkedData>,
    /// `cancelled`, `postponed` or `rescheduled`; absent if the event is going ahead as announced.
    /// Extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_status: Option<&'static str>,
    /// The reason for `event_status`; absent if none was given. Extension.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub event_status_reason: String,
    /// The series that the event belongs to; absent if there is none. Extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesJson>,
}

/// The venues of an event: an empty list, a single object, or a list of two or more.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum VenueField {
    One(Box<VenueJson>),
    Several(Vec<VenueJson>),
}

/// The components of a cost.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct CostDetails {
    pub currency_symbol: String,
    pub currency_code: String,
    /// `prefix` or `postfix`; empty if the cost does not contain a symbol.
    pub currency_position: &'static str,
    pub values: Vec<String>,
}

/// How much of an event to include in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A single event, with linked data.
    Single,
    /// All fields, without linked data.
    Plain,
    /// A password-protected list entry.
    Protected,
}

fn cost_details(cost: &Cost, view: RenderContext<'_>) -> CostDetails {
    if cost.values.is_empty() {
        return CostDetails::default();
    }
    CostDetails {
        currency_symbol: cost.symbol.clone(),
        currency_code: view.currency.code.clone(),
        currency_position: cost.position,
        values: cost.values.clone(),
    }
}

fn venue(
    links: &Links,
    included: &Included,
    view: RenderContext<'_>,
    linked_data: bool,
) -> VenueField {
    let mut venues: Vec<VenueJson> = links
        .venues
        .iter()
        .filter_map(|id| included.venues.get(id))
        .map(|row| linked::venue(row, included, view, linked_data))
        .collect();
    match venues.len() {
        1 => VenueField::One(Box::new(venues.remove(0))),
        _ => VenueField::Several(venues),
    }
}

/// Renders an event.
pub fn event(
    event: &Event,
    included: &Included,
    view: RenderContext<'_>,
    extent: Extent,
) -> EventJson {
    let none = Links::default();
    let links = included.links.get(&event.id).unwrap_or(&none);
    let linked_data = extent == Extent::Single;
    let cost = cost::read(&event.cost, view.currency);
    let image = event.image.and_then(|id| included.images.get(&id));
    let image = image.map(|image| ImageJson::new(image, view.urls));
    let organizers = links.organizers.iter().filter_map(|id| included.organizers.get(id));
    let status = included.statuses.get(&event.id);
    let event_status = status.map(|status| status.occurring.name());
    let json = EventJson {
        description: html::paragraphs(&event.description),
        excerpt: html::paragraphs(&event.excerpt),
        image: image.map_or(ImageField::None(false), ImageField::Some),
        all_day: Some(event.schedule.all_day),
        cost_details: cost_details(&cost, view),
        cost: html::without_tags(&cost.shown),
        website: website(event, view),
        show_map: Some(event.show_map),
        show_map_link: Some(event.show_map_link),
        hide_from_listings: Some(!event.listed),
        sticky: Some(event.sticky),
        featured: Some(event.featured),
        categories: term::embedded(&links.categories, included, view),
        tags: term::embedded(&links.tags, included, view),
        venue: venue(links, included, view, linked_data),
        organizer: organizers
            .map(|row| linked::organizer(row, included, view, linked_data))
            .collect(),
        json_ld: linked_data.then(|| json_ld::of_event(event, links, included, view)),
        event_status,
        event_status_reason: status.map(|status| status.reason.clone()).unwrap_or_default(),
        series: included.series.get(&event.id).map(recurrence::series),
        ..blank(event, view)
    };
    match extent {
        // Without the password, only include fields that don't reveal the content.
        Extent::Protected => EventJson { event_status, ..blank(event, view) },
        _ => json,
    }
}

fn website(event: &Event, view: RenderContext<'_>) -> String {
    if event.website.is_empty() {
        return view.urls.event_page(&event.slug);
    }
    event.website.replace('&', "&amp;")
}

/// Renders the fields that are visible even without the password, and leaves all others blank.
fn blank(event: &Event, view: RenderContext<'_>) -> EventJson {
    let schedule = &event.schedule;
    let global_id = view.urls.global_id(event.id);
    EventJson {
        id: event.id,
        global_id_lineage: vec![global_id.clone()],
        global_id,
        author: event.author.to_string(),
        status: event.status.as_str().to_owned(),
        date: written(event.published_local),
        date_utc: written(event.published_utc),
        modified: written_in(view.zone, event.modified_utc),
        modified_utc: written(event.modified_utc),
        url: view.urls.event_page(&event.slug),
        rest_url: view.urls.item("events", event.id),
        title: html::title(&event.title),
        description: String::new(),
        excerpt: String::new(),
        slug: event.slug.clone(),
        image: ImageField::None(false),
        all_day: None,
        start_date: written(schedule.start_local),
        start_date_details: details(schedule.start_local),
        end_date: written(schedule.end_local),
        end_date_details: details(schedule.end_local),
        utc_start_date: written(schedule.start_utc),
        utc_start_date_details: details(schedule.start_utc),
        utc_end_date: written(schedule.end_utc),
        utc_end_date_details: details(schedule.end_utc),
        timezone: schedule.zone.name().to_owned(),
        timezone_abbr: schedule
            .zone
            .abbreviation(crate::model::schedule::instant_from_seconds(schedule.start_utc)),
        cost: String::new(),
        cost_details: CostDetails::default(),
        website: String::new(),
        show_map: None,
        show_map_link: None,
        hide_from_listings: None,
        sticky: None,
        featured: None,
        categories: Vec::new(),
        tags: Vec::new(),
        venue: VenueField::Several(Vec::new()),
        organizer: Vec::new(),
        custom_fields: Vec::new(),
        json_ld: None,
        event_status: None,
        event_status_reason: String::new(),
        series: None,
    }
}
