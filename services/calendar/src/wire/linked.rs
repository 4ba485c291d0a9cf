//! Venues and organizers in answers; keys without a value are absent.

use serde::Serialize;
use utoipa::ToSchema;

use super::dates::{written, written_in};
use super::image::ImageJson;
use super::json_ld::{self, LinkedData};
use super::view::View;
use crate::model::bundle::Bundle;
use crate::model::html;
use crate::model::linked::Linked;

fn is_empty(text: &str) -> bool {
    text.is_empty()
}

/// A venue.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Venue, example = json!(super::examples::venue()))]
pub struct VenueJson {
    pub id: i64,
    pub author: String,
    pub status: String,
    pub date: String,
    pub date_utc: String,
    pub modified: String,
    pub modified_utc: String,
    pub url: String,
    pub venue: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub excerpt: String,
    pub slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageJson>,
    #[serde(skip_serializing_if = "is_empty")]
    pub address: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub city: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub country: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub province: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub state: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub zip: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub phone: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub website: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub stateprovince: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo_lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo_lng: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_ld: Option<LinkedData>,
    pub show_map: bool,
    pub show_map_link: bool,
    pub global_id: String,
    pub global_id_lineage: Vec<String>,
}

/// An organizer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Organizer, example = json!(super::examples::organizer()))]
pub struct OrganizerJson {
    pub id: i64,
    pub author: String,
    pub status: String,
    pub date: String,
    pub date_utc: String,
    pub modified: String,
    pub modified_utc: String,
    pub url: String,
    pub organizer: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub excerpt: String,
    pub slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageJson>,
    #[serde(skip_serializing_if = "is_empty")]
    pub phone: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub website: String,
    #[serde(skip_serializing_if = "is_empty")]
    pub email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_ld: Option<LinkedData>,
    pub global_id: String,
    pub global_id_lineage: Vec<String>,
}

fn image(row: &Linked, bundle: &Bundle, view: View<'_>) -> Option<ImageJson> {
    let image = row.image.and_then(|id| bundle.images.get(&id))?;
    Some(ImageJson::new(image, view.addresses))
}

/// Renders a venue; linked data goes with single reads only.
pub fn venue(row: &Linked, bundle: &Bundle, view: View<'_>, linked_data: bool) -> VenueJson {
    let place = &row.place;
    let global_id = view.addresses.global_id(row.id);
    VenueJson {
        id: row.id,
        author: row.author.to_string(),
        status: row.status.as_str().to_owned(),
        date: written(row.published_local),
        date_utc: written(row.published_utc),
        modified: written_in(view.zone, row.modified_utc),
        modified_utc: written(row.modified_utc),
        url: view.addresses.linked_page(row.kind, &row.slug),
        venue: html::title(&row.name),
        description: html::paragraphs(&row.description),
        excerpt: html::paragraphs(&row.excerpt),
        slug: row.slug.clone(),
        image: image(row, bundle, view),
        address: place.address.clone(),
        city: place.city.clone(),
        country: place.country.clone(),
        province: place.province.clone(),
        state: place.state.clone(),
        zip: place.zip.clone(),
        phone: row.phone.clone(),
        website: row.website.clone(),
        stateprovince: place.stateprovince.clone(),
        geo_lat: place.geo.map(|point| point.lat),
        geo_lng: place.geo.map(|point| point.lng),
        json_ld: linked_data.then(|| json_ld::of_linked(row, view)),
        show_map: place.show_map,
        show_map_link: place.show_map_link,
        global_id_lineage: vec![global_id.clone()],
        global_id,
    }
}

/// Renders an organizer; linked data goes with single reads only.
pub fn organizer(
    row: &Linked,
    bundle: &Bundle,
    view: View<'_>,
    linked_data: bool,
) -> OrganizerJson {
    let global_id = view.addresses.global_id(row.id);
    OrganizerJson {
        id: row.id,
        author: row.author.to_string(),
        status: row.status.as_str().to_owned(),
        date: written(row.published_local),
        date_utc: written(row.published_utc),
        modified: written_in(view.zone, row.modified_utc),
        modified_utc: written(row.modified_utc),
        url: view.addresses.linked_page(row.kind, &row.slug),
        organizer: html::title(&row.name),
        description: html::paragraphs(&row.description),
        excerpt: html::paragraphs(&row.excerpt),
        slug: row.slug.clone(),
        image: image(row, bundle, view),
        phone: row.phone.clone(),
        website: row.website.clone(),
        email: row.email.clone(),
        json_ld: linked_data.then(|| json_ld::of_linked(row, view)),
        global_id_lineage: vec![global_id.clone()],
        global_id,
    }
}
