//! The query of the lists of categories and tags.

use super::query::{
    ListOptions, ListRequest, descending, existing_event, paging, repeated, search,
};
use crate::model::list::{TermFilter, TermOrder};
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::wire::args;
use crate::wire::decode::{Decoder, ParameterErrors, text};
use crate::wire::lookup::Lookup;
use crate::wire::params::Params;

/// Reads the query of the lists of categories and tags.
pub fn terms(
    params: &Params,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
    lister: ListOptions<'_>,
) -> Result<ListRequest<TermFilter>, ParameterErrors> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    let declared = match taxonomy {
        Taxonomy::Category => args::CATEGORY_LIST,
        Taxonomy::Tag => args::TAG_LIST,
    };
    let paging = paging(d, lister);
    let search = search(d);
    let exclude = existing_terms(d, lookup, taxonomy, "exclude").unwrap_or_default();
    let include = existing_terms(d, lookup, taxonomy, "include");
    let descending = descending(d);
    let order = term_order(d);
    let hide_empty = d.boolean("hide_empty").unwrap_or(true);
    let parent = match taxonomy {
        Taxonomy::Category => parent(d, lookup),
        Taxonomy::Tag => None,
    };
    let post = existing_event(d, lookup, "post");
    let event = existing_event(d, lookup, "event").or(post);
    let slugs = d.words("slug").map(|words| words.iter().map(|w| slug::slugify(w)).collect());
    let query = repeated(params, declared, paging);
    let filter = TermFilter {
        search,
        include,
        exclude,
        slugs,
        parent,
        event,
        hide_empty,
        order,
        descending,
    };
    decoder.finish(ListRequest { filter, paging, query })
}

fn existing_terms(
    d: &mut Decoder<'_>,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
    name: &'static str,
) -> Option<Vec<i64>> {
    let ids = d.ids(name)?;
    if ids.is_empty() || lookup.terms(taxonomy, &ids).len() < ids.len() {
        d.fail(name, "must be a list of existing ids");
    }
    Some(ids)
}

fn parent(d: &mut Decoder<'_>, lookup: &mut dyn Lookup) -> Option<i64> {
    if d.raw("parent").is_some_and(|value| value.as_str().map(str::trim) == Some("0")) {
        return Some(0);
    }
    let id = d.positive("parent")?;
    if !lookup.term(Taxonomy::Category, id) {
        d.fail("parent", "must be the id of a category");
    }
    Some(id)
}

fn term_order(d: &mut Decoder<'_>) -> TermOrder {
    let read = d.check("orderby", |value| match text(value)?.as_str() {
        "id" | "term_group" => Ok(TermOrder::Id),
        "name" => Ok(TermOrder::Name),
        "slug" => Ok(TermOrder::Slug),
        "description" => Ok(TermOrder::Description),
        "parent" => Ok(TermOrder::Parent),
        "count" => Ok(TermOrder::Count),
        "include" | "include_slugs" => Ok(TermOrder::Given),
        _ => Err("must be an attribute of terms"),
    });
    read.unwrap_or(TermOrder::Name)
}
