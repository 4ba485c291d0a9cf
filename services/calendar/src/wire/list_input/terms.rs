//! The query of the lists of categories and tags.

use super::query::{ListOptions, ListRequest, existing_event, paging, repeated};
use crate::model::list::{TermFilter, TermOrder};
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::wire::lookup::Lookup;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::{CategoryListParameters, TagListParameters};
use crate::wire::params::Params;
use crate::wire::reading::{Errors, read_parameters};
use crate::wire::values::{Ids, Parent};

/// Decodes the query of the lists of categories and tags.
///
/// # Errors
/// All invalid parameters.
pub fn terms(
    params: &Params,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
    options: ListOptions<'_>,
) -> Result<ListRequest<TermFilter>, ParameterErrors> {
    let (given, mut errors) = match taxonomy {
        Taxonomy::Category => read_parameters::<CategoryListParameters>(params),
        Taxonomy::Tag => {
            let (given, errors) = read_parameters::<TagListParameters>(params);
            (with_parent(given), errors)
        }
    };
    let CategoryListParameters {
        page,
        per_page,
        search,
        exclude,
        include,
        order,
        orderby,
        hide_empty,
        parent,
        post,
        event,
        slug,
        // Applied to the response.
        fields: _,
    } = given;
    let paging = paging(page, per_page, options);
    let exclude = existing_terms(&mut errors, lookup, taxonomy, "exclude", exclude);
    let include = existing_terms(&mut errors, lookup, taxonomy, "include", include);
    let parent = existing_parent(&mut errors, lookup, parent);
    let post = existing_event(&mut errors, lookup, "post", post);
    let event = existing_event(&mut errors, lookup, "event", event).or(post);
    let query = match taxonomy {
        Taxonomy::Category => repeated::<CategoryListParameters>(params, paging),
        Taxonomy::Tag => repeated::<TagListParameters>(params, paging),
    };
    let slugs = slug.map(|texts| texts.0.iter().map(|text| slug::slugify(text)).collect());
    let filter = TermFilter {
        search: search.map(|text| text.0),
        include,
        exclude: exclude.unwrap_or_default(),
        slugs,
        parent,
        event,
        hide_empty: hide_empty.is_none_or(|flag| flag.0),
        order: orderby.map_or(TermOrder::Name, |order| order.0),
        descending: order.is_some_and(|order| order.0),
    };
    errors.finish(ListRequest { filter, paging, query })
}

/// Adds `parent` to the parameters of a tag list, which have all others of categories.
fn with_parent(tags: TagListParameters) -> CategoryListParameters {
    CategoryListParameters {
        page: tags.page,
        per_page: tags.per_page,
        search: tags.search,
        exclude: tags.exclude,
        include: tags.include,
        order: tags.order,
        orderby: tags.orderby,
        hide_empty: tags.hide_empty,
        parent: None,
        post: tags.post,
        event: tags.event,
        slug: tags.slug,
        fields: tags.fields,
    }
}

fn existing_terms(
    errors: &mut Errors,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
    name: &'static str,
    ids: Option<Ids>,
) -> Option<Vec<i64>> {
    let Ids(ids) = ids?;
    if ids.is_empty() || lookup.terms(taxonomy, &ids).len() < ids.len() {
        errors.fail(name, "must be a list of existing ids");
    }
    Some(ids)
}

fn existing_parent(
    errors: &mut Errors,
    lookup: &mut dyn Lookup,
    parent: Option<Parent>,
) -> Option<i64> {
    let Parent(id) = parent?;
    if id != 0 && !lookup.term(Taxonomy::Category, id) {
        errors.fail("parent", "must be the id of a category");
    }
    Some(id)
}
