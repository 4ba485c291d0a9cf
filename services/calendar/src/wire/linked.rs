//! Venues and organizers in answers; keys without a value are absent.

use serde::Serialize;
use utoipa::ToSchema;

use super::dates::{written, written_in};
use super::image::ImageJson;
use super::json_ld::{self, LinkedData};
use super::render_context::RenderContext;
use crate::model::html;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};

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

fn image(row: &Linked, included: &Included, view: RenderContext<'_>) -> Option<ImageJson> {
    let image = row.image.and_then(|id| included.images.get(&id))?;
    Some(ImageJson::new(image, view.urls))
}

/// Renders a venue; linked data goes with single reads only.
pub fn venue(
    row: &Linked,
    included: &Included,
    view: RenderContext<'_>,
    linked_data: bool,
) -> VenueJson {
    let place = &row.place;
    let global_id = view.urls.global_id(row.id);
    VenueJson {
        id: row.id,
        author: row.author.to_string(),
        status: row.status.as_str().to_owned(),
        date: written(row.published_local),
        date_utc: written(row.published_utc),
        modified: written_in(view.zone, row.modified_utc),
        modified_utc: written(row.modified_utc),
        url: view.urls.linked_page(row.kind, &row.slug),
        venue: html::title(&row.name),
        description: html::paragraphs(&row.description),
        excerpt: html::paragraphs(&row.excerpt),
        slug: row.slug.clone(),
        image: image(row, included, view),
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
    included: &Included,
    view: RenderContext<'_>,
    linked_data: bool,
) -> OrganizerJson {
    let global_id = view.urls.global_id(row.id);
    OrganizerJson {
        id: row.id,
        author: row.author.to_string(),
        status: row.status.as_str().to_owned(),
        date: written(row.published_local),
        date_utc: written(row.published_utc),
        modified: written_in(view.zone, row.modified_utc),
        modified_utc: written(row.modified_utc),
        url: view.urls.linked_page(row.kind, &row.slug),
        organizer: html::title(&row.name),
        description: html::paragraphs(&row.description),
        excerpt: html::paragraphs(&row.excerpt),
        slug: row.slug.clone(),
        image: image(row, included, view),
        phone: row.phone.clone(),
        website: row.website.clone(),
        email: row.email.clone(),
        json_ld: linked_data.then(|| json_ld::of_linked(row, view)),
        global_id_lineage: vec![global_id.clone()],
        global_id,
    }
}

/// A venue or an organizer.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum LinkedJson {
    Venue(Box<VenueJson>),
    Organizer(Box<OrganizerJson>),
}

impl LinkedJson {
    /// Renders a row of either kind.
    pub fn new(
        row: &Linked,
        included: &Included,
        view: RenderContext<'_>,
        linked_data: bool,
    ) -> LinkedJson {
        match row.kind {
            Kind::Venue => LinkedJson::Venue(Box::new(venue(row, included, view, linked_data))),
            Kind::Organizer => {
                LinkedJson::Organizer(Box::new(organizer(row, included, view, linked_data)))
            }
        }
    }
}
