//! Category and tag use cases: list, read, create, change and delete.

use database::Db;

use super::context::RequestContext;
use super::interrupt::Interrupt;
use super::list_permit::ReadList;
use super::request::Request;
use super::term_writes;
use super::transactions::{read, write};
use crate::error::Error;
use crate::model::list::TermFilter;
use crate::model::role::Action;
use crate::model::term::{Taxonomy, Term};
use crate::state::State;
use crate::store::{included, term_list, terms};
use crate::wire::envelope::{CategoryListJson, TagListJson, list_meta};
use crate::wire::list_input::{ListRequest, TermListInput};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::term::{self as json, TermJson};
use crate::wire::term_input::TermInput;

fn action(taxonomy: Taxonomy) -> Action {
    match taxonomy {
        Taxonomy::Category => Action::Categories,
        Taxonomy::Tag => Action::Tags,
    }
}

/// Identifies a term in a URL path.
pub struct TermKey {
    pub taxonomy: Taxonomy,
    pub id: i64,
}

impl TermKey {
    /// Reads the term, or fails if it does not exist.
    pub fn require(&self, db: &mut Db) -> Result<Term, Error> {
        let name = match self.taxonomy {
            Taxonomy::Category => "must be the id of a category",
            Taxonomy::Tag => "must be the id of a tag",
        };
        let found = terms::find(db, self.taxonomy, self.id)?;
        found.ok_or_else(|| ParameterErrors::one("id", name).into())
    }
}

fn render(
    context: &mut RequestContext<'_>,
    term: &Term,
    with_links: bool,
) -> Result<TermJson, Error> {
    let included = included::of_terms(context.db, std::slice::from_ref(term))?;
    Ok(json::own(term, &included, context.render(), with_links))
}

/// Fails if the parameters set a parent for a tag.
fn check_parent(taxonomy: Taxonomy, params: &Params) -> Result<(), Error> {
    let misplaced = taxonomy == Taxonomy::Tag && params.get("parent").is_some();
    if misplaced { Err(Error::NotHierarchical) } else { Ok(()) }
}

/// Creates a term from request parameters, inside a transaction.
pub fn create_in(
    context: &mut RequestContext<'_>,
    taxonomy: Taxonomy,
    params: &Params,
) -> Result<Term, Interrupt> {
    check_parent(taxonomy, params)?;
    let user = context.user()?;
    let input = TermInput::read(params, taxonomy, true);
    let change = context.decode_write(&user, input, |input, known, _| input.decode(known))?;
    Ok(term_writes::create_as(context.db, taxonomy, &change, context.wanted_id)?)
}

/// Creates a term.
pub async fn create(
    state: &State,
    request: Request,
    taxonomy: Taxonomy,
) -> Result<TermJson, Error> {
    write(state, request, action(taxonomy), move |context, params| {
        let term = create_in(context, taxonomy, params)?;
        Ok(render(context, &term, true)?)
    })
    .await
}

/// Reads a term.
pub async fn find(state: &State, request: Request, key: TermKey) -> Result<TermJson, Error> {
    read(state, request, move |context, _| {
        let term = key.require(context.db)?;
        render(context, &term, true)
    })
    .await
}

/// Changes the given fields of a term.
pub async fn update(state: &State, request: Request, key: TermKey) -> Result<TermJson, Error> {
    write(state, request, action(key.taxonomy), move |context, params| {
        let user = context.user()?;
        let term = key.require(context.db)?;
        context.check_unchanged(params, |context| render(context, &term, true))?;
        check_parent(key.taxonomy, params)?;
        let input = TermInput::read(params, key.taxonomy, false);
        let change = context.decode_write(&user, input, |input, known, _| input.decode(known))?;
        let term = term_writes::update(context.db, term, &change)?;
        Ok(render(context, &term, true)?)
    })
    .await
}

/// Deletes a term permanently. Returns its last state.
pub async fn delete(state: &State, request: Request, key: TermKey) -> Result<TermJson, Error> {
    let taxonomy = key.taxonomy;
    write(state, request, action(taxonomy), move |context, params| {
        let term = key.require(context.db)?;
        context.check_unchanged(params, |context| render(context, &term, true))?;
        let json = render(context, &term, false)?;
        terms::delete(context.db, &term)?;
        Ok(json)
    })
    .await
    .map_err(|error| error.while_deleting(taxonomy.word()))
}

type Page = (Vec<TermJson>, i64, ListRequest<TermFilter>);

fn page(
    context: &mut RequestContext<'_>,
    taxonomy: Taxonomy,
    params: &Params,
) -> Result<Page, Error> {
    let list = context.decode_list(TermListInput::read(params, taxonomy), TermListInput::decode)?;
    let (rows, total) = term_list::page(context.db, taxonomy, &list.filter, list.paging)?;
    let included = included::of_terms(context.db, &rows)?;
    let render = context.render();
    let rows = rows.iter().map(|term| json::own(term, &included, render, false)).collect();
    Ok((rows, total, list))
}

pub async fn list_categories(
    state: &State,
    request: Request,
) -> Result<ReadList<CategoryListJson>, Error> {
    let list = read(state, request, |context, params| {
        let (categories, total, list) = page(context, Taxonomy::Category, params)?;
        let collection = context.urls.collection("categories");
        let meta = list_meta(&collection, list.paging, &list.query, total);
        Ok(CategoryListJson { categories, meta })
    });
    Ok(ReadList::short(list.await?))
}

pub async fn list_tags(state: &State, request: Request) -> Result<ReadList<TagListJson>, Error> {
    let list = read(state, request, |context, params| {
        let (tags, total, list) = page(context, Taxonomy::Tag, params)?;
        let collection = context.urls.collection("tags");
        let meta = list_meta(&collection, list.paging, &list.query, total);
        Ok(TagListJson { tags, meta })
    });
    Ok(ReadList::short(list.await?))
}
