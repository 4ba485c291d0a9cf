//! JSON-LD for events, venues and organizers, using the schema.org vocabulary.

use serde::Serialize;
use utoipa::ToSchema;

use super::dates::{iso, written};
use super::render_context::RenderContext;
use super::series_data::{InSeriesUntil, SeriesData, of_series};
use crate::model::cost;
use crate::model::event::{Event, Links};
use crate::model::html;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};

/// A schema.org object. Properties that do not apply are absent.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkedData {
    #[serde(rename = "@context", skip_serializing_if = "Option::is_none")]
    pub context: Option<&'static str>,
    #[serde(rename = "@type")]
    pub kind: &'static str,
    pub name: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_attendance_mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    /// The former start of a rescheduled event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_start_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub location: Option<Box<LinkedData>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub organizer: Option<Box<LinkedData>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offers: Option<Offer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performer: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<PostalAddress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<GeoCoordinates>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub telephone: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub email: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub same_as: String,
    /// The series that the event belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub super_event: Option<SeriesData>,
}

/// The price of an event, as a schema.org `Offer`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    #[serde(rename = "@type")]
    pub kind: &'static str,
    pub price: String,
    pub price_currency: String,
    pub url: String,
    pub category: &'static str,
    pub availability: &'static str,
    pub valid_from: String,
}

/// The address of a venue, as a schema.org `PostalAddress`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostalAddress {
    #[serde(rename = "@type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub street_address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address_locality: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address_region: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub postal_code: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub address_country: String,
}

/// The coordinates of a venue, as schema.org `GeoCoordinates`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GeoCoordinates {
    #[serde(rename = "@type")]
    pub kind: &'static str,
    pub latitude: f64,
    pub longitude: f64,
}

/// Describes a venue or organizer.
pub fn of_linked(row: &Linked, view: RenderContext<'_>) -> LinkedData {
    let place = &row.place;
    let venue = row.kind == Kind::Venue;
    LinkedData {
        kind: if venue { "Place" } else { "Person" },
        name: html::plain(&row.name),
        description: html::plain(&row.description),
        url: view.urls.linked_page(row.kind, &row.slug),
        address: venue.then(|| PostalAddress {
            kind: "PostalAddress",
            street_address: html::without_tags(&place.address),
            address_locality: html::without_tags(&place.city),
            address_region: html::without_tags(&place.stateprovince),
            postal_code: html::without_tags(&place.zip),
            address_country: html::without_tags(&place.country),
        }),
        geo: place.geo.map(|point| GeoCoordinates {
            kind: "GeoCoordinates",
            latitude: point.lat,
            longitude: point.lng,
        }),
        telephone: html::without_tags(&row.phone),
        email: html::without_tags(&row.email),
        same_as: row.website.clone(),
        ..LinkedData::default()
    }
}

/// Describes an event. Only its first venue and first organizer are included.
pub fn of_event(
    event: &Event,
    links: &Links,
    included: &Included,
    view: RenderContext<'_>,
) -> LinkedData {
    let zone = &event.schedule.zone;
    let url = view.urls.event_page(&event.slug);
    let venue = links.venues.iter().find_map(|id| included.venues.get(id));
    let organizer = links.organizers.iter().find_map(|id| included.organizers.get(id));
    let series = included.series.get(&event.id).map(InSeriesUntil::of);
    LinkedData {
        context: Some("http://schema.org"),
        kind: "Event",
        name: html::plain(&event.title),
        description: html::plain(&event.description),
        image: event
            .image
            .and_then(|id| included.images.get(&id))
            .map(|image| view.urls.image(image)),
        event_attendance_mode: Some("https://schema.org/OfflineEventAttendanceMode"),
        event_status: Some(included.occurring(event.id).schema()),
        start_date: Some(iso(zone, event.schedule.start_utc)),
        previous_start_date: included.previous_starts.get(&event.id).map(|start| iso(zone, *start)),
        end_date: Some(iso(zone, event.schedule.end_utc)),
        location: venue.map(|row| Box::new(of_linked(row, view))),
        organizer: organizer.map(|row| Box::new(of_linked(row, view))),
        offers: offer(event, &url, view),
        performer: Some("Organization"),
        super_event: series.map(|series| of_series(event, series, view)),
        url,
        ..LinkedData::default()
    }
}

fn offer(event: &Event, url: &str, view: RenderContext<'_>) -> Option<Offer> {
    let cost = cost::read(&event.cost, view.currency);
    let first = cost.values.first()?;
    Some(Offer {
        kind: "Offer",
        price: if first == "free" { "0".to_owned() } else { first.clone() },
        price_currency: view.currency.code.clone(),
        url: url.to_owned(),
        category: "primary",
        availability: "inStock",
        valid_from: written(event.published_local).replace(' ', "T"),
    })
}
