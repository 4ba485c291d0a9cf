//! Categories and tags in responses.

use serde::Serialize;
use utoipa::ToSchema;

use super::render_context::RenderContext;
use crate::model::html::escape;
use crate::model::included::Included;
use crate::model::term::{Taxonomy, Term};

/// A category or tag.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Term, example = json!(super::examples::term()))]
pub struct TermJson {
    pub id: i64,
    pub count: i64,
    pub description: String,
    pub name: String,
    pub slug: String,
    pub taxonomy: &'static str,
    /// Id of the parent category; absent for tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<i64>,
    pub meta: Vec<String>,
    pub url: String,
    pub urls: TermUrls,
    #[serde(rename = "_links", skip_serializing_if = "Option::is_none")]
    pub links: Option<TermLinks>,
}

/// A category or tag of an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = EmbeddedTerm)]
pub struct EmbeddedTerm {
    pub id: i64,
    pub name: String,
    pub slug: String,
    pub taxonomy: &'static str,
    pub description: String,
    pub parent: i64,
    pub count: i64,
    pub term_group: i64,
    pub term_taxonomy_id: i64,
    pub filter: &'static str,
    pub url: String,
    pub urls: TermUrls,
}

/// The API URLs of a category or tag.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TermUrls {
    #[serde(rename = "self")]
    pub own: String,
    pub collection: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
}

/// The same URLs as in `urls`, as links.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TermLinks {
    #[serde(rename = "self")]
    pub own: [Href; 1],
    pub collection: [Href; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<[Href; 1]>,
}

/// A link.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Href {
    pub href: String,
}

fn urls(term: &Term, view: RenderContext<'_>) -> TermUrls {
    let collection = term.taxonomy.collection();
    TermUrls {
        own: view.urls.item(collection, term.id),
        collection: view.urls.collection(collection),
        up: (term.parent != 0).then(|| view.urls.item(collection, term.parent)),
    }
}

fn links(urls: &TermUrls) -> TermLinks {
    let href = |href: &String| [Href { href: href.clone() }];
    TermLinks {
        own: href(&urls.own),
        collection: href(&urls.collection),
        up: urls.up.as_ref().map(href),
    }
}

/// Renders a term on its own. Lists and delete responses don't include links.
pub fn own(
    term: &Term,
    included: &Included,
    view: RenderContext<'_>,
    with_links: bool,
) -> TermJson {
    let urls = urls(term, view);
    TermJson {
        id: term.id,
        count: term.count,
        description: term.description.clone(),
        name: escape(&term.name),
        slug: term.slug.clone(),
        taxonomy: term.taxonomy.name(),
        parent: (term.taxonomy == Taxonomy::Category).then_some(term.parent),
        meta: Vec::new(),
        url: view.urls.term_page(term.taxonomy, &included.path(term)),
        links: with_links.then(|| links(&urls)),
        urls,
    }
}

/// Renders an event's terms, sorted by name.
pub fn embedded(ids: &[i64], included: &Included, view: RenderContext<'_>) -> Vec<EmbeddedTerm> {
    let mut terms: Vec<&Term> = ids.iter().filter_map(|id| included.terms.get(id)).collect();
    terms.sort_by_cached_key(|term| (crate::model::search::fold_name(&term.name), term.id));
    terms
        .into_iter()
        .map(|term| EmbeddedTerm {
            id: term.id,
            name: escape(&term.name),
            slug: term.slug.clone(),
            taxonomy: term.taxonomy.name(),
            description: term.description.clone(),
            parent: term.parent,
            count: term.count,
            term_group: 0,
            term_taxonomy_id: term.id,
            filter: "raw",
            url: view.urls.term_page(term.taxonomy, &included.path(term)),
            urls: urls(term, view),
        })
        .collect()
}
