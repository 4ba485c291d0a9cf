//! Decides which lists of events have their own fast statement.
//!
//! Each test names every field of [`EventFilter`]. A new field breaks the build until each fast
//! path handles it. An ignored field would be missing from the statement, and totals would be
//! wrong.

use crate::model::list::{EventFilter, EventOrder, Unpublished};
use crate::model::search::Words;
use crate::model::window::Limits;

/// A link table with the ids to match.
pub struct LinkFilter<'a> {
    pub table: &'static str,
    pub ids: &'a [i64],
}

/// Returns whether nothing can match.
pub fn is_empty(filter: &EventFilter) -> bool {
    let EventFilter {
        matches_nothing,
        scope,
        // These only narrow or sort the list.
        window: _,
        words: _,
        categories: _,
        tags: _,
        venues: _,
        organizers: _,
        featured: _,
        include: _,
        parent: _,
        geo: _,
        venue_scope: _,
        order: _,
        descending: _,
    } = filter;
    *matches_nothing || (!scope.published && scope.unpublished == Unpublished::None)
}

/// Returns whether only window and statuses narrow the list, in the default order.
pub fn is_plain(filter: &EventFilter) -> bool {
    let EventFilter {
        categories,
        tags,
        venues,
        organizers,
        words,
        featured,
        include,
        parent,
        geo,
        // Handled together with `geo`.
        venue_scope: _,
        // Handled by `is_empty` before any statement.
        matches_nothing: _,
        // Part of every statement.
        scope: _,
        window,
        order,
        // The database reads in both directions.
        descending: _,
    } = filter;
    *order == EventOrder::Start
        && !window.depends_on_clock_changes()
        && [categories, tags, venues, organizers].into_iter().all(Option::is_none)
        && *words == Words::default()
        && featured.is_none()
        && include.is_none()
        && parent.is_none()
        && geo.is_none()
}

/// Returns the only link filter of a public list that has no other filter.
pub fn single_link(filter: &EventFilter) -> Option<LinkFilter<'_>> {
    let EventFilter {
        scope,
        order,
        words,
        featured,
        include,
        parent,
        geo,
        // The links themselves, counted below.
        categories: _,
        tags: _,
        venues: _,
        organizers: _,
        // Handled together with `geo`.
        venue_scope: _,
        // Handled by `is_empty` before any statement.
        matches_nothing: _,
        // Part of the statement on the links.
        window,
        descending: _,
    } = filter;
    let is_single = scope.is_public()
        && !window.depends_on_clock_changes()
        && *order == EventOrder::Start
        && *words == Words::default()
        && featured.is_none()
        && include.is_none()
        && parent.is_none()
        && geo.is_none();
    let mut links = links(filter);
    (is_single && links.len() == 1).then(|| links.remove(0))
}

/// Returns all link filters of a list.
pub fn links(filter: &EventFilter) -> Vec<LinkFilter<'_>> {
    [
        ("event_venues", &filter.venues),
        ("event_organizers", &filter.organizers),
        ("event_terms", &filter.categories),
        ("event_terms", &filter.tags),
    ]
    .into_iter()
    .filter_map(|(table, ids)| ids.as_deref().map(|ids| LinkFilter { table, ids }))
    .collect()
}

/// Returns whether a page of the overlap form can be read from two index ranges.
pub fn is_overlap_page(filter: &EventFilter) -> bool {
    // `is_plain` has checked all other fields.
    let EventFilter { scope, window, .. } = filter;
    is_plain(filter)
        && scope.is_public()
        && (window.wall.end_min.is_some() || window.utc.end_min.is_some())
        && window.wall.start_min.is_none()
        && window.utc.start_min.is_none()
}

/// Returns whether connections keep a prepared statement for this kind of list: public, default
/// window and order, at most one link filter. There are few such kinds, so a connection can keep
/// all their statements.
pub fn is_preparable(filter: &EventFilter) -> bool {
    // `single_link` and `is_plain` check all other fields.
    let EventFilter { scope, window, descending, .. } = filter;
    let Limits { start_min, start_max, end_min, end_max, touching, is_overlap: _ } = window.wall;
    (single_link(filter).is_some() || is_plain(filter))
        && scope.is_public()
        && !descending
        && window.utc.is_empty()
        && (start_min.is_some(), end_max.is_some()) == (true, true)
        && (start_max, end_min, touching) == (None, None, None)
}
