//! Venues, organizers, categories and tags as the subjects of event lists.

use database::Db;

use super::super::context::RequestContext;
use super::listing::{ListParameters, ListView, PageRequest, listing};
use crate::error::Error;
use crate::model::html;
use crate::model::linked::{Kind, Linked};
use crate::model::role;
use crate::model::slug::lookup_form;
use crate::model::term::{Taxonomy, Term};
use crate::state::State;
use crate::store::{included, linked_posts, terms};
use crate::wire::pages::Link;
use crate::wire::pages::linked::{self, LinkedView};
use crate::wire::pages::query::PageQuery;
use crate::wire::pages::structured_data;
use crate::wire::render_context::RenderContext;

/// A resource whose page lists its events.
pub struct Subject<V> {
    pub view: V,
    /// The path of the page, relative to the base URL.
    pub path: String,
    /// JSON-LD for the page, or an empty string.
    pub data: String,
    /// The list parameter that selects its events.
    pub parameter: (&'static str, String),
}

/// A category or a tag.
#[derive(Clone, Debug)]
pub struct TermView {
    pub name: String,
    /// The description as HTML.
    pub description: String,
    /// Ancestors of the term, starting at the root.
    pub parents: Vec<Link>,
}

/// Reads a venue or an organizer, and its upcoming events.
pub async fn linked_page(
    state: &State,
    request: &PageRequest,
    kind: Kind,
    slug: &str,
) -> Result<(Subject<LinkedView>, ListView), Error> {
    let slug = lookup_form(slug);
    listing(state, request, move |context| {
        let subject = linked_subject(context, kind, &slug)?;
        let pairs = upcoming_events(&subject.parameter);
        Ok((subject, pairs))
    })
    .await
}

/// Reads a category or a tag, and its upcoming events.
pub async fn term_page(
    state: &State,
    request: &PageRequest,
    taxonomy: Taxonomy,
    slug: &str,
) -> Result<(Subject<TermView>, ListView), Error> {
    let slug = lookup_form(slug);
    listing(state, request, move |context| {
        let subject = term_subject(context, taxonomy, &slug)?;
        let pairs = upcoming_events(&subject.parameter);
        Ok((subject, pairs))
    })
    .await
}

/// Returns the list parameters for a subject's current and upcoming events.
fn upcoming_events(parameter: &(&'static str, String)) -> ListParameters {
    let mut pairs = PageQuery::default().list();
    pairs.push(parameter.clone());
    pairs
}

/// Finds a published venue or organizer.
pub fn find_linked(db: &mut Db, kind: Kind, slug: &str) -> Result<Linked, Error> {
    let found = linked_posts::find_by_slug(db, kind, slug)?;
    found.filter(|row| role::may_read(&None, &row.status, row.author)).ok_or(Error::NoRoute)
}

pub fn find_term(db: &mut Db, taxonomy: Taxonomy, slug: &str) -> Result<Term, Error> {
    terms::find_by_slug(db, taxonomy, slug)?.ok_or(Error::NoRoute)
}

fn linked_subject(
    context: &mut RequestContext<'_>,
    kind: Kind,
    slug: &str,
) -> Result<Subject<LinkedView>, Error> {
    let row = find_linked(context.db, kind, slug)?;
    let included = included::of_linked(context.db, std::slice::from_ref(&row))?;
    let links = context.urls.relative();
    let view = RenderContext { urls: &links, ..context.render() };
    Ok(Subject {
        path: format!("/{}/{}/", kind.word(), row.slug),
        data: structured_data::page_of(&row, &included, context.render()).to_string(),
        parameter: (kind.word(), row.id.to_string()),
        view: linked::linked(&row, &included, view),
    })
}

fn term_subject(
    context: &mut RequestContext<'_>,
    taxonomy: Taxonomy,
    slug: &str,
) -> Result<Subject<TermView>, Error> {
    let term = find_term(context.db, taxonomy, slug)?;
    let included = included::of_terms(context.db, std::slice::from_ref(&term))?;
    let links = context.urls.relative();
    let mut parents = Vec::new();
    let mut above = term.parent;
    // Loops can't be stored. The limit prevents an endless loop if the database is damaged.
    while let Some(parent) = included.terms.get(&above).filter(|_| parents.len() < 100) {
        let href = links.term_page(taxonomy, &included.path(parent));
        parents.push(Link { text: parent.name.clone(), href });
        above = parent.parent;
    }
    parents.reverse();
    let href = links.in_default_language().term_page(taxonomy, &included.path(&term));
    Ok(Subject {
        path: href.strip_prefix(&links.base).unwrap_or(&href).to_owned(),
        data: String::new(),
        parameter: (taxonomy.collection(), term.slug.clone()),
        view: TermView {
            name: term.name.clone(),
            description: html::paragraphs(&term.description),
            parents,
        },
    })
}
