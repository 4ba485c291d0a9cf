//! Decodes category and tag list queries.

use super::query::{ListOptions, ListRequest, existing_event, paging, repeated};
use crate::model::list::{TermFilter, TermOrder};
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::model::urls::Urls;
use crate::wire::names::{Input, Known, Names};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::{CategoryListParameters, TagListParameters};
use crate::wire::params::Params;
use crate::wire::reading::{Errors, read_parameters};
use crate::wire::values::{Ids, Parent};

/// A category or tag list query.
pub struct TermListInput<'a> {
    params: &'a Params,
    taxonomy: Taxonomy,
    given: CategoryListParameters,
    errors: Errors,
}

impl Input for TermListInput<'_> {
    fn names(&self, _: &Urls) -> Names {
        let CategoryListParameters { include, exclude, parent, post, event, .. } = &self.given;
        let mut names = Names::default();
        names.events.extend(post.iter().chain(event).map(|id| id.0));
        names.categories.ids.extend(parent.iter().map(|parent| parent.0));
        let ids = include.iter().chain(exclude).flat_map(|ids| &ids.0);
        names.terms(self.taxonomy).ids.extend(ids);
        names
    }
}

impl<'a> TermListInput<'a> {
    pub fn read(params: &'a Params, taxonomy: Taxonomy) -> TermListInput<'a> {
        let (given, errors) = match taxonomy {
            Taxonomy::Category => read_parameters(params),
            Taxonomy::Tag => {
                let (given, errors) = read_parameters(params);
                (with_parent(given), errors)
            }
        };
        TermListInput { params, taxonomy, given, errors }
    }

    /// Decodes the query.
    ///
    /// # Errors
    /// Returns all invalid parameters.
    pub fn decode(
        self,
        known: &Known,
        options: ListOptions<'_>,
    ) -> Result<ListRequest<TermFilter>, ParameterErrors> {
        decode(self, known, options)
    }
}

fn decode(
    input: TermListInput<'_>,
    known: &Known,
    options: ListOptions<'_>,
) -> Result<ListRequest<TermFilter>, ParameterErrors> {
    let TermListInput { params, taxonomy, given, mut errors } = input;
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
    let exclude = existing_terms(&mut errors, known, taxonomy, "exclude", exclude);
    let include = existing_terms(&mut errors, known, taxonomy, "include", include);
    let parent = existing_parent(&mut errors, known, parent);
    let post = existing_event(&mut errors, known, "post", post);
    let event = existing_event(&mut errors, known, "event", event).or(post);
    let query = match taxonomy {
        Taxonomy::Category => repeated::<CategoryListParameters>(params, paging),
        Taxonomy::Tag => repeated::<TagListParameters>(params, paging),
    };
    if slug.as_ref().is_some_and(|texts| texts.0.is_empty()) {
        errors.fail("slug", "must not be empty");
    }
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

/// Converts tag list parameters to category list parameters. The only difference is that the latter
/// include `parent`.
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
    known: &Known,
    taxonomy: Taxonomy,
    name: &'static str,
    ids: Option<Ids>,
) -> Option<Vec<i64>> {
    let Ids(ids) = ids?;
    let known = &known.terms(taxonomy).ids;
    if ids.is_empty() || !ids.iter().all(|id| known.contains(id)) {
        errors.fail(name, "must be a list of existing ids");
    }
    Some(ids)
}

fn existing_parent(errors: &mut Errors, known: &Known, parent: Option<Parent>) -> Option<i64> {
    let Parent(id) = parent?;
    if id != 0 && !known.categories.ids.contains(&id) {
        errors.fail("parent", "must be the id of a category");
    }
    Some(id)
}
