//! Decodes event list queries.

use super::dates::dates;
use super::query::{
    ListOptions, ListRequest, default_status, existing_event, in_order, paging, repeated, scope,
};
use crate::model::geo::{Point, Unit};
use crate::model::linked::Kind;
use crate::model::list::{EventFilter, EventOrder, Geo, Scope};
use crate::model::search::Words;
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::model::urls::Urls;
use crate::model::window::Window;
use crate::wire::names::{Input, Known, KnownTerms, Names};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::EventListParameters;
use crate::wire::params::Params;
use crate::wire::reading::{Errors, read_parameters};
use crate::wire::values::{Ids, Positive, Texts};

/// An event list query.
pub struct EventListInput<'a> {
    params: &'a Params,
    given: EventListParameters,
    errors: Errors,
}

impl Input for EventListInput<'_> {
    fn names(&self, _: &Urls) -> Names {
        let EventListParameters { categories, tags, venue, organizer, post_parent, series, .. } =
            &self.given;
        let mut names = Names::default();
        names.events.extend(post_parent.iter().map(|id| id.0));
        names.series.extend(series.iter().map(|id| id.0));
        names.venues.extend(venue.iter().flat_map(|ids| &ids.0));
        names.organizers.extend(organizer.iter().flat_map(|ids| &ids.0));
        for (taxonomy, texts) in [(Taxonomy::Category, categories), (Taxonomy::Tag, tags)] {
            let names = names.terms(taxonomy);
            for word in texts.iter().flat_map(|texts| &texts.0) {
                names.ids.extend(word.parse::<i64>());
                names.slugs.extend([word.to_lowercase(), slug::slugify(word)]);
            }
        }
        names
    }
}

impl<'a> EventListInput<'a> {
    pub fn read(params: &'a Params) -> EventListInput<'a> {
        let (given, errors) = read_parameters(params);
        EventListInput { params, given, errors }
    }

    /// Decodes the query.
    ///
    /// # Errors
    /// Returns all invalid parameters.
    pub fn decode(
        self,
        known: &Known,
        options: ListOptions<'_>,
    ) -> Result<ListRequest<EventFilter>, ParameterErrors> {
        decode(self, known, options)
    }
}

fn decode(
    input: EventListInput<'_>,
    known: &Known,
    options: ListOptions<'_>,
) -> Result<ListRequest<EventFilter>, ParameterErrors> {
    let EventListInput { params, mut given, mut errors } = input;
    let e = &mut errors;
    let paging = paging(given.page.take(), given.per_page.take(), options);
    let dates = dates(e, &mut given, options);
    let words = given.search.take().map(|text| Words::parse(&text.0)).unwrap_or_default();
    if words.count() == 0 && params.get("search").is_some() {
        e.fail("search", "must have a word to search for");
    }
    if words.count() > Words::MAX {
        e.fail("search", format!("must have at most {} words", Words::MAX));
    }
    // Change lists are decoded elsewhere, and feeds don't support these parameters.
    for (name, is_given) in
        [("modified_after", given.modified_after.is_some()), ("after_id", given.after_id.is_some())]
    {
        if is_given {
            e.fail(name, "is not supported here");
        }
    }
    let geo = geo(e, params, &given, options);
    let EventListParameters {
        categories,
        tags,
        venue,
        organizer,
        featured,
        status,
        include,
        post_parent,
        series,
        collapse,
        ticketed,
        order,
        orderby,
        // Decoded above.
        page: _,
        per_page: _,
        start_date: _,
        end_date: _,
        starts_before: _,
        starts_after: _,
        ends_before: _,
        ends_after: _,
        strict_dates: _,
        overlaps: _,
        search: _,
        modified_after: _,
        after_id: _,
        geoloc: _,
        geoloc_lat: _,
        geoloc_lng: _,
        geoloc_radius: _,
        geoloc_unit: _,
        // These only affect how much of each event is included.
        password: _,
        context: _,
        // Applied to the response.
        fields: _,
    } = given;
    let mut query = repeated::<EventListParameters>(params, paging);
    dates.repeat(&mut query, include.is_some());
    repeat_radius(&mut query, params, geo, options);
    let statuses = status.as_ref().map(|words| ("status".to_owned(), words.0.join(",")));
    query.retain(|(name, _)| name != "status" || statuses.is_none());
    query.extend(statuses.or_else(|| default_status(params, options.actor)));
    in_order::<EventListParameters>(&mut query);
    let default_order = if include.is_some() { EventOrder::Date } else { EventOrder::Start };
    let filter = EventFilter {
        scope: scope(e, status, options.actor),
        window: if include.is_some() { Window::default() } else { dates.window },
        words,
        categories: named_terms(e, known, Taxonomy::Category, categories),
        tags: named_terms(e, known, Taxonomy::Tag, tags),
        venues: existing_linked(e, known, Kind::Venue, venue),
        organizers: existing_linked(e, known, Kind::Organizer, organizer),
        featured: featured.map(|flag| flag.0),
        include: include.map(|ids| wanted_ids(e, ids)),
        parent: existing_event(e, known, "post_parent", post_parent),
        series: existing_series(e, known, series),
        collapsed_at: collapse.map(|_| options.now.as_second()),
        geo,
        venue_scope: Scope::of(options.actor, None).unwrap_or_else(Scope::public),
        matches_nothing: ticketed.is_some_and(|flag| flag.0),
        order: orderby.map_or(default_order, |order| order.0),
        descending: order.is_some_and(|order| order.0),
    };
    errors.finish(ListRequest { filter, paging, query })
}

/// If a location filter uses the site's default radius or unit, adds that default to the query.
fn repeat_radius(
    query: &mut Vec<(String, String)>,
    params: &Params,
    geo: Option<Geo>,
    options: ListOptions<'_>,
) {
    let Some(Geo::Near { .. }) = geo else { return };
    let unit = match options.geo_unit {
        Unit::Miles => "miles",
        Unit::Kilometres => "km",
    };
    let chosen =
        [("geoloc_radius", options.geo_radius.to_string()), ("geoloc_unit", unit.to_owned())];
    let absent = chosen.into_iter().filter(|(name, _)| params.get(name).is_none());
    query.extend(absent.map(|(name, value)| (name.to_owned(), value)));
}

/// Decodes `include`, which must contain at least one id.
fn wanted_ids(errors: &mut Errors, Ids(ids): Ids) -> Vec<i64> {
    if ids.is_empty() {
        errors.fail("include", "must be a list of ids");
    }
    ids
}

/// Looks up the terms to filter by. Each item is tried as a slug, an id and a name, in this order.
/// Returns `None` if the parameter is absent. Reports an error if nothing matches.
fn named_terms(
    errors: &mut Errors,
    known: &Known,
    taxonomy: Taxonomy,
    texts: Option<Texts>,
) -> Option<Vec<i64>> {
    let Texts(words) = texts?;
    let KnownTerms { ids, slugs } = known.terms(taxonomy);
    let known = |word: &String| {
        let id = word.parse().ok().filter(|id| ids.contains(id));
        let named = || slugs.get(&slug::slugify(word)).copied();
        slugs.get(&word.to_lowercase()).copied().or(id).or_else(named)
    };
    let found: Option<Vec<i64>> = words.iter().map(known).collect();
    let found = found.filter(|ids| !ids.is_empty());
    if found.is_none() {
        errors.fail(taxonomy.collection(), "must name existing terms");
    }
    found
}

fn existing_linked(
    errors: &mut Errors,
    known: &Known,
    kind: Kind,
    ids: Option<Ids>,
) -> Option<Vec<i64>> {
    let Ids(ids) = ids?;
    let known = known.linked(kind);
    if ids.is_empty() || !ids.iter().all(|id| known.contains(id)) {
        errors.fail(kind.word(), "must be a list of existing ids");
    }
    Some(ids)
}

/// Returns the series id, or `None` if the parameter is absent. Reports an error if the series
/// doesn't exist.
fn existing_series(errors: &mut Errors, known: &Known, id: Option<Positive>) -> Option<i64> {
    let Positive(id) = id?;
    if !known.series.contains(&id) {
        errors.fail("series", "must be the id of a series");
    }
    Some(id)
}

fn geo(
    errors: &mut Errors,
    params: &Params,
    given: &EventListParameters,
    options: ListOptions<'_>,
) -> Option<Geo> {
    match (params.get("geoloc_lat").is_some(), params.get("geoloc_lng").is_some()) {
        (true, false) => errors.fail("geoloc_lat", "needs geoloc_lng"),
        (false, true) => errors.fail("geoloc_lng", "needs geoloc_lat"),
        _ => {}
    }
    if let (Some(lat), Some(lng)) = (&given.geoloc_lat, &given.geoloc_lng) {
        let length = given.geoloc_radius.as_ref().map_or(options.geo_radius, |radius| radius.0);
        let unit = given.geoloc_unit.as_ref().map_or(options.geo_unit, |unit| unit.0);
        let point = Point { lat: lat.0, lng: lng.0 };
        return Some(Geo::Near { point, km: unit.to_km(length) });
    }
    given.geoloc.is_some_and(|flag| flag.0).then_some(Geo::Known)
}
