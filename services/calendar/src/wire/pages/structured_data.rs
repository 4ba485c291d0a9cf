//! JSON-LD on pages, with the properties that search engines require for events, places and
//! organizations. API responses use a different form, because API clients expect it (see
//! `wire::json_ld`).

use serde_json::{Map, Value, json};

use super::card::words;
use super::linked::web;
use crate::model::cost;
use crate::model::event::{Event, Links};
use crate::model::html;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};
use crate::model::schedule::instant_from_seconds;
use crate::model::spoken;
use crate::wire::dates::{iso, written_in};
use crate::wire::render_context::RenderContext;
use crate::wire::series_data::{InSeriesUntil, of_series};

const CONTEXT: &str = "https://schema.org";

/// Symbols that are only used by a single currency.
const CURRENCIES: [(&str, &str); 6] =
    [("€", "EUR"), ("£", "GBP"), ("₹", "INR"), ("₺", "TRY"), ("₴", "UAH"), ("₪", "ILS")];

/// Describes an event and, if it is part of a series, the series as well.
pub fn event(
    (event, links, series): (&Event, &Links, Option<InSeriesUntil<'_>>),
    included: &Included,
    view: RenderContext<'_>,
) -> Value {
    let schedule = &event.schedule;
    let (first, last) = spoken::ends(schedule);
    let (start, end) = match schedule.all_day {
        true => (first.date().to_string(), last.date().to_string()),
        false => (iso(&schedule.zone, schedule.start_utc), iso(&schedule.zone, schedule.end_utc)),
    };
    let previous = included.previous_starts.get(&event.id).map(|start| match schedule.all_day {
        true => schedule.zone.wall(instant_from_seconds(*start)).date().to_string(),
        false => iso(&schedule.zone, *start),
    });
    let url = view.urls.event_page(&event.slug);
    let described = [&event.description, &event.excerpt].map(|text| words(text));
    let places = links.venues.iter().filter_map(|id| included.venues.get(id));
    let organizers = links.organizers.iter().filter_map(|id| included.organizers.get(id));
    let mut data = object(&[
        ("@context", CONTEXT),
        ("@type", "Event"),
        ("@id", &format!("{url}#event")),
        ("name", &html::plain(&event.title)),
        ("description", described.iter().find(|text| !text.is_empty()).map_or("", |text| text)),
        ("url", &url),
        ("image", &image_of(event.image, included, view)),
        ("startDate", &start),
        ("previousStartDate", previous.as_deref().unwrap_or_default()),
        ("endDate", &end),
        ("eventStatus", included.occurring(event.id).schema()),
        ("eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode"),
    ]);
    add(&mut data, "location", places.map(|row| linked(row, included, view)).collect());
    add(&mut data, "organizer", organizers.map(|row| linked(row, included, view)).collect());
    offer(&mut data, event, &url, view);
    let series = series.map(|series| of_series(event, series, view));
    if let Some(series) = series.and_then(|series| serde_json::to_value(series).ok()) {
        data.insert("superEvent".to_owned(), series);
    }
    Value::Object(data)
}

/// Describes a venue or organizer on its own page.
pub fn page_of(row: &Linked, included: &Included, view: RenderContext<'_>) -> Value {
    let mut data = object(&[("@context", CONTEXT)]);
    data.extend(described(row, included, view));
    Value::Object(data)
}

fn linked(row: &Linked, included: &Included, view: RenderContext<'_>) -> Value {
    Value::Object(described(row, included, view))
}

fn described(row: &Linked, included: &Included, view: RenderContext<'_>) -> Map<String, Value> {
    let is_venue = row.kind == Kind::Venue;
    let url = view.urls.linked_page(row.kind, &row.slug);
    let name = html::plain(&row.name);
    let mut data = object(&[
        ("@type", if is_venue { "Place" } else { "Organization" }),
        ("@id", &format!("{url}#{}", row.kind.word())),
        ("name", &name),
        ("description", &words(&row.description)),
        ("url", &url),
        ("image", &image_of(row.image, included, view)),
        ("telephone", &html::without_tags(&row.phone)),
        ("email", &html::without_tags(&row.email)),
        ("sameAs", &web(&row.website)),
    ]);
    if is_venue {
        let address = address(row);
        // Places must have an address, so fall back to the venue's name.
        let address = if address.len() > 1 { Value::Object(address) } else { Value::from(name) };
        data.insert("address".to_owned(), address);
    }
    if let Some(point) = row.place.geo {
        let geo = json!({"@type": "GeoCoordinates", "latitude": point.lat, "longitude": point.lng});
        data.insert("geo".to_owned(), geo);
    }
    data
}

fn address(row: &Linked) -> Map<String, Value> {
    let place = &row.place;
    object(&[
        ("@type", "PostalAddress"),
        ("streetAddress", &html::without_tags(&place.address)),
        ("addressLocality", &html::without_tags(&place.city)),
        ("addressRegion", &html::without_tags(&place.stateprovince)),
        ("postalCode", &html::without_tags(&place.zip)),
        ("addressCountry", &html::without_tags(&place.country)),
    ])
}

/// Adds an event's price, unless any of its values isn't a number. Only adds an offer if the
/// currency is known.
fn offer(data: &mut Map<String, Value>, event: &Event, url: &str, view: RenderContext<'_>) {
    let cost = cost::read(&event.cost, view.currency);
    let amounts: Vec<&str> =
        cost.values.iter().map(|value| if value == "free" { "0" } else { value }).collect();
    let is_amount = |text: &&str| text.parse::<f64>().is_ok();
    let (Some(low), Some(high)) = (amounts.first(), amounts.last()) else { return };
    if !amounts.iter().all(is_amount) {
        return;
    }
    let is_free = high.parse() == Ok(0.0);
    data.insert("isAccessibleForFree".to_owned(), Value::from(is_free));
    let known = CURRENCIES.iter().find(|(symbol, _)| *symbol == cost.symbol);
    let code = known.map_or(view.currency.code.as_str(), |(_, code)| *code);
    if code.is_empty() {
        return;
    }
    let valid_from = written_in(view.zone, event.published_utc).replace(' ', "T");
    let mut offer = object(&[
        ("@type", if low == high { "Offer" } else { "AggregateOffer" }),
        ("priceCurrency", code),
        ("url", url),
        ("availability", "https://schema.org/InStock"),
        ("validFrom", &valid_from),
    ]);
    let prices: &[(&str, &&str)] = match low == high {
        true => &[("price", low)],
        false => &[("lowPrice", low), ("highPrice", high)],
    };
    offer.extend(prices.iter().map(|(name, price)| ((*name).to_owned(), Value::from(**price))));
    data.insert("offers".to_owned(), Value::Object(offer));
}

fn image_of(id: Option<i64>, included: &Included, view: RenderContext<'_>) -> String {
    let image = id.and_then(|id| included.images.get(&id));
    image.map(|image| view.urls.image(image)).unwrap_or_default()
}

/// Builds an object from the given members, skipping empty ones.
fn object(members: &[(&str, &str)]) -> Map<String, Value> {
    let given = members.iter().filter(|(_, text)| !text.is_empty());
    given.map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect()
}

/// Adds a member. A single value is added directly, whereas several values become a list.
fn add(data: &mut Map<String, Value>, name: &str, mut values: Vec<Value>) {
    match values.len() {
        0 => {}
        1 => drop(data.insert(name.to_owned(), values.remove(0))),
        _ => drop(data.insert(name.to_owned(), Value::Array(values))),
    }
}
