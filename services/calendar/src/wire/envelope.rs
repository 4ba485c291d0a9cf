//! The pagination links and totals of lists.

use serde::Serialize;
use utoipa::ToSchema;

use super::addresses::address;
use super::event::EventJson;
use super::examples;
use super::linked::{OrganizerJson, VenueJson};
use super::term::TermJson;
use super::tombstone::TombstoneJson;
use crate::model::list::Paging;

/// Page links and totals of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Frame)]
pub struct ListMeta {
    pub rest_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_rest_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_rest_url: Option<String>,
    pub total: i64,
    pub total_pages: i64,
}

/// A list of events.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = EventList, example = json!(examples::list("events", examples::event())))]
pub struct EventListJson {
    pub events: Vec<EventJson>,
    /// Events that are no longer visible. Only present with `modified_after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Vec<TombstoneJson>>,
    #[serde(flatten)]
    pub meta: ListMeta,
}

/// A list of venues.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = VenueList, example = json!(examples::list("venues", examples::venue())))]
pub struct VenueListJson {
    pub venues: Vec<VenueJson>,
    #[serde(flatten)]
    pub meta: ListMeta,
}

/// A list of organizers.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = OrganizerList, example = json!(examples::list("organizers", examples::organizer())))]
pub struct OrganizerListJson {
    pub organizers: Vec<OrganizerJson>,
    #[serde(flatten)]
    pub meta: ListMeta,
}

/// A list of categories.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CategoryList, example = json!(examples::list("categories", examples::term())))]
pub struct CategoryListJson {
    pub categories: Vec<TermJson>,
    #[serde(flatten)]
    pub meta: ListMeta,
}

/// A list of tags.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TagList, example = json!(examples::list("tags", examples::term())))]
pub struct TagListJson {
    pub tags: Vec<TermJson>,
    #[serde(flatten)]
    pub meta: ListMeta,
}

/// Builds the pagination links and totals for one page of a collection.
pub fn list_meta(
    collection: &str,
    paging: Paging,
    query: &[(String, String)],
    total: i64,
) -> ListMeta {
    let pages = paging.pages(total);
    let page = paging.page;
    // `page` is the last parameter of a link, and is omitted for page 1.
    let link = |page: i64| {
        let last = (page > 1).then(|| ("page".to_owned(), page.to_string()));
        address(collection, query.iter().chain(&last))
    };
    let first = ("page".to_owned(), page.to_string());
    ListMeta {
        rest_url: address(collection, std::iter::once(&first).chain(query)),
        next_rest_url: (page < pages).then(|| link(page + 1)),
        previous_rest_url: (page > 1).then(|| link(page - 1)),
        total,
        total_pages: pages,
    }
}
