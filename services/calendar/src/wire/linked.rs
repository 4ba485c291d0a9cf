//! Venues and organizers in responses. Empty fields are omitted.

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

fn image(row: &Linked, included: &Included, view: RenderContext<'_>) -> Option<ImageJson> {
    let image = row.image.and_then(|id| included.images.get(&id))?;
    Some(ImageJson::new(image, view.urls))
}

/// Defines a kind's response type and render function. To keep the keys in the expected order,
/// fields specific to the kind are inserted between the shared ones.
macro_rules! linked_json {
    (
        $(#[$meta:meta])*
        $type:ident, $name:ident of $row:ident:
        { $($place:tt)* } = { $($place_value:tt)* },
        { $($contact:tt)* } = { $($contact_value:tt)* },
        { $($map:tt)* } = { $($map_value:tt)* }
    ) => {
        #[derive(Clone, Debug, Serialize, ToSchema)]
        $(#[$meta])*
        pub struct $type {
            pub id: i64,
            pub author: String,
            pub status: String,
            pub date: String,
            pub date_utc: String,
            pub modified: String,
            pub modified_utc: String,
            pub url: String,
            pub $name: String,
            #[serde(skip_serializing_if = "is_empty")]
            pub description: String,
            #[serde(skip_serializing_if = "is_empty")]
            pub excerpt: String,
            pub slug: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            pub image: Option<ImageJson>,
            $($place)*
            #[serde(skip_serializing_if = "is_empty")]
            pub phone: String,
            #[serde(skip_serializing_if = "is_empty")]
            pub website: String,
            $($contact)*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub json_ld: Option<LinkedData>,
            $($map)*
            pub global_id: String,
            pub global_id_lineage: Vec<String>,
        }

        /// Renders a row of this kind. JSON-LD is only included when reading a single row.
        pub fn $name(
            $row: &Linked,
            included: &Included,
            view: RenderContext<'_>,
            linked_data: bool,
        ) -> $type {
            let global_id = view.urls.global_id($row.id);
            $type {
                id: $row.id,
                author: $row.author.to_string(),
                status: $row.status.as_str().to_owned(),
                date: written($row.published_local),
                date_utc: written($row.published_utc),
                modified: written_in(view.zone, $row.modified_utc),
                modified_utc: written($row.modified_utc),
                url: view.urls.linked_page($row.kind, &$row.slug),
                $name: html::title(&$row.name),
                description: html::paragraphs(&$row.description),
                excerpt: html::paragraphs(&$row.excerpt),
                slug: $row.slug.clone(),
                image: image($row, included, view),
                $($place_value)*
                phone: html::without_tags(&$row.phone),
                website: $row.website.clone(),
                $($contact_value)*
                json_ld: linked_data.then(|| json_ld::of_linked($row, view)),
                $($map_value)*
                global_id_lineage: vec![global_id.clone()],
                global_id,
            }
        }
    };
}

linked_json! {
    /// A venue.
    #[schema(as = Venue, example = json!(super::examples::venue()))]
    VenueJson, venue of row:
    {
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
    } = {
        address: html::without_tags(&row.place.address),
        city: html::without_tags(&row.place.city),
        country: html::without_tags(&row.place.country),
        province: html::without_tags(&row.place.province),
        state: html::without_tags(&row.place.state),
        zip: html::without_tags(&row.place.zip),
    },
    {
        #[serde(skip_serializing_if = "is_empty")]
        pub stateprovince: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub geo_lat: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub geo_lng: Option<f64>,
    } = {
        stateprovince: html::without_tags(&row.place.stateprovince),
        geo_lat: row.place.geo.map(|point| point.lat),
        geo_lng: row.place.geo.map(|point| point.lng),
    },
    {
        pub show_map: bool,
        pub show_map_link: bool,
    } = {
        show_map: row.place.show_map,
        show_map_link: row.place.show_map_link,
    }
}

linked_json! {
    /// An organizer.
    #[schema(as = Organizer, example = json!(super::examples::organizer()))]
    OrganizerJson, organizer of row:
    {} = {},
    {
        #[serde(skip_serializing_if = "is_empty")]
        pub email: String,
    } = {
        email: html::without_tags(&row.email),
    },
    {} = {}
}

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
