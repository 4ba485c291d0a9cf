//! List filters, sort orders and paging, after decoding.

use super::geo::Point;
use super::role::{self, Actor};
use super::search::Words;
use super::status::Status;
use super::window::Window;

/// Default page size.
pub const PER_PAGE: i64 = 10;

/// The requested page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Page number, starting at 1.
    pub page: i64,
    /// Rows per page.
    pub per_page: i64,
}

impl Paging {
    /// Returns the number of rows before the page.
    pub fn offset(self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// Returns the number of pages needed for `total` rows.
    pub fn pages(self, total: i64) -> i64 {
        (total + self.per_page - 1) / self.per_page
    }
}

/// The rows on a page, counted from whichever end of the list is closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Number of rows before the page.
    pub skip: i64,
    /// Number of rows on the page.
    pub take: i64,
    /// Whether `skip` counts from the end, in which case rows are read in reverse order.
    pub backwards: bool,
}

impl Slice {
    /// Returns the slice for a page of a list with `total` rows, or `None` if it is past the end.
    pub fn of(paging: Paging, total: i64) -> Option<Slice> {
        let before = paging.offset();
        let take = paging.per_page.min(total - before);
        let behind = total - before - take;
        let backwards = behind < before;
        let skip = if backwards { behind } else { before };
        (take > 0).then_some(Slice { skip, take, backwards })
    }
}

/// The statuses that the caller of a list request can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Whether published resources are included.
    pub published: bool,
    /// Determines which unpublished resources are included.
    pub unpublished: Unpublished,
}

/// Unpublished resources in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpublished {
    /// None.
    None,
    /// Resources by one or all authors, with the given statuses or any status other than trash.
    Of {
        /// Only this user's resources, or everyone's if `None`.
        author: Option<i64>,
        /// Only these statuses, in ascending order.
        statuses: Option<Vec<Status>>,
    },
}

/// The `status` parameter of a list request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusFilter {
    /// All statuses.
    Any,
    /// Only these statuses.
    Of(Vec<Status>),
}

impl Scope {
    /// Returns a scope with only published resources.
    pub fn public() -> Scope {
        Scope { published: true, unpublished: Unpublished::None }
    }

    /// Returns a scope with everything except the trash.
    pub fn untrashed() -> Scope {
        Scope { published: true, unpublished: Unpublished::Of { author: None, statuses: None } }
    }

    /// Returns whether the scope is limited to published resources.
    pub fn is_public(&self) -> bool {
        *self == Scope::public()
    }

    /// Determines the scope of a list request. `None` if the caller isn't allowed to request these
    /// statuses.
    pub fn of(actor: &Actor, asked: Option<&StatusFilter>) -> Option<Scope> {
        let author = match (role::sees_all(actor), role::sees_own(actor)) {
            (true, _) => None,
            (false, Some(own)) => Some(own),
            (false, None) => return Scope::of_stranger(asked),
        };
        let Some(StatusFilter::Of(statuses)) = asked else {
            return Some(Scope {
                published: true,
                unpublished: Unpublished::Of { author, statuses: None },
            });
        };
        let published = statuses.iter().any(Status::is_published);
        let mut unpublished: Vec<Status> = statuses
            .iter()
            .filter(|status| !status.is_published())
            // Only editors can see the trash.
            .filter(|status| author.is_none() || !status.is_trashed())
            .cloned()
            .collect();
        unpublished.sort_unstable();
        let unpublished = if unpublished.is_empty() {
            Unpublished::None
        } else {
            Unpublished::Of { author, statuses: Some(unpublished) }
        };
        Some(Scope { published, unpublished })
    }

    fn of_stranger(asked: Option<&StatusFilter>) -> Option<Scope> {
        match asked {
            None => Some(Scope::public()),
            Some(StatusFilter::Of(statuses)) if statuses.iter().all(Status::is_published) => {
                Some(Scope::public())
            }
            Some(_) => None,
        }
    }
}

/// Event list sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOrder {
    /// By start, publication date and id.
    Start,
    /// By publication date.
    Date,
    /// By title, ignoring case and accents.
    Title,
    /// By id.
    Id,
}

/// Filters events by location.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Geo {
    /// Events with a venue that has coordinates.
    Known,
    /// Events with a venue within a radius.
    Near {
        /// The centre of the circle.
        point: Point,
        /// The radius in kilometres.
        km: f64,
    },
}

/// Event list filters and sort order. Filters that are `None` don't apply.
#[derive(Clone, Debug)]
pub struct EventFilter {
    /// The statuses that the caller can see.
    pub scope: Scope,
    /// The date bounds.
    pub window: Window,
    /// The search words.
    pub words: Words,
    /// Only events in one of these categories.
    pub categories: Option<Vec<i64>>,
    /// Only events with one of these tags.
    pub tags: Option<Vec<i64>>,
    /// Only events at one of these venues.
    pub venues: Option<Vec<i64>>,
    /// Only events by one of these organizers.
    pub organizers: Option<Vec<i64>>,
    /// Only events that are featured, or only events that aren't.
    pub featured: Option<bool>,
    /// Only events with these ids.
    pub include: Option<Vec<i64>>,
    /// Only children of this event, i.e. the other events in its series.
    pub parent: Option<i64>,
    /// Only events in this series.
    pub series: Option<i64>,
    /// Shows only one event per series: the next one at this time, in Unix seconds, or the last one
    /// if all are over.
    pub collapsed_at: Option<i64>,
    /// Only events at these locations.
    pub geo: Option<Geo>,
    /// The venues that a location filter can use.
    pub venue_scope: Scope,
    /// Whether the filter can't match anything, e.g. because of `ticketed=true`.
    pub matches_nothing: bool,
    /// Sort key.
    pub order: EventOrder,
    /// Whether to sort in descending order.
    pub descending: bool,
}

impl EventFilter {
    /// Creates a filter with only a scope and a window.
    pub fn plain(scope: Scope, window: Window) -> EventFilter {
        EventFilter {
            scope,
            window,
            words: Words::default(),
            categories: None,
            tags: None,
            venues: None,
            organizers: None,
            featured: None,
            include: None,
            parent: None,
            series: None,
            collapsed_at: None,
            geo: None,
            venue_scope: Scope::public(),
            matches_nothing: false,
            order: EventOrder::Start,
            descending: false,
        }
    }

    /// Returns the names of the event fields that the filter examines, except dates.
    pub fn fields(&self) -> Vec<&'static str> {
        let EventFilter {
            words,
            categories,
            tags,
            venues,
            organizers,
            featured,
            geo,
            // The remaining filters don't look at any field that can differ between the occurrences
            // of a series.
            scope: _,
            window: _,
            include: _,
            parent: _,
            series: _,
            collapsed_at: _,
            venue_scope: _,
            matches_nothing: _,
            order: _,
            descending: _,
        } = self;
        let groups: [(bool, &[&'static str]); 6] = [
            (words.count() > 0, &["title", "excerpt", "description", "password"]),
            (categories.is_some(), &["categories"]),
            (tags.is_some(), &["tags"]),
            (venues.is_some() || geo.is_some(), &["venue"]),
            (organizers.is_some(), &["organizer"]),
            (featured.is_some(), &["featured"]),
        ];
        let examined = groups.into_iter().filter(|(is_given, _)| *is_given);
        examined.flat_map(|(_, fields)| fields).copied().collect()
    }
}

/// Filters for a venue or organizer list.
#[derive(Clone, Debug)]
pub struct LinkedFilter {
    /// The statuses that the caller can see.
    pub scope: Scope,
    /// The caller, who determines which linked events count.
    pub actor: Actor,
    /// Only rows that contain this string.
    pub search: Option<String>,
    /// Only rows linked to this event.
    pub event: Option<i64>,
    /// Only rows with events (true) or without (false).
    pub has_events: Option<bool>,
    /// Only rows linked to an event that starts at or after this time in Unix seconds.
    pub upcoming_since: Option<i64>,
}

/// Sort order of a term list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermOrder {
    /// By id.
    Id,
    /// By name.
    Name,
    /// By slug.
    Slug,
    /// By description.
    Description,
    /// By parent.
    Parent,
    /// By number of events.
    Count,
    /// In the order given by `include` or, if present, `slug`.
    Given,
}

/// Term list filters and sort order.
#[derive(Clone, Debug)]
pub struct TermFilter {
    /// Only terms that contain this string.
    pub search: Option<String>,
    /// Only terms with these ids.
    pub include: Option<Vec<i64>>,
    /// Excludes terms with these ids.
    pub exclude: Vec<i64>,
    /// Only terms with these slugs.
    pub slugs: Option<Vec<String>>,
    /// Only children of this term.
    pub parent: Option<i64>,
    /// Only terms linked to this event.
    pub event: Option<i64>,
    /// Whether to leave out terms without events.
    pub hide_empty: bool,
    /// Sort key.
    pub order: TermOrder,
    /// Whether to sort in descending order.
    pub descending: bool,
}

#[cfg(test)]
mod tests {
    use super::super::role::{Role, User};
    use super::*;

    #[test]
    fn slices_count_from_the_nearer_end() {
        let slice_of = |page, total| {
            Slice::of(Paging { page, per_page: 10 }, total)
                .map(|slice| (slice.skip, slice.take, slice.backwards))
        };
        assert_eq!(slice_of(1, 0), None);
        assert_eq!(slice_of(1, 3), Some((0, 3, false)));
        assert_eq!(slice_of(1, 25), Some((0, 10, false)));
        assert_eq!(slice_of(2, 25), Some((5, 10, true)));
        assert_eq!(slice_of(3, 25), Some((0, 5, true)));
        assert_eq!(slice_of(2, 30), Some((10, 10, false)));
        assert_eq!(slice_of(3, 30), Some((0, 10, true)));
        assert_eq!(slice_of(4, 30), None);
        assert_eq!(slice_of(i64::MAX, 30), None);
    }

    fn actor(role: Role) -> Actor {
        Some(User { id: 7, login: "x".into(), role })
    }

    fn of(statuses: &[&str]) -> StatusFilter {
        StatusFilter::Of(statuses.iter().filter_map(|text| Status::parse(text)).collect())
    }

    #[test]
    fn anonymous_callers_may_only_list_published_resources() {
        for who in [None, actor(Role::Reader)] {
            assert_eq!(Scope::of(&who, None), Some(Scope::public()));
            assert_eq!(Scope::of(&who, Some(&of(&["publish"]))), Some(Scope::public()));
            assert_eq!(Scope::of(&who, Some(&of(&["publish", "draft"]))), None);
            assert_eq!(Scope::of(&who, Some(&StatusFilter::Any)), None);
        }
    }

    #[test]
    fn authors_list_their_own_and_editors_all() {
        let own = Scope::of(&actor(Role::Author), Some(&of(&["publish", "draft", "trash"])));
        let draft = Some(vec![Status::parse("draft").unwrap()]);
        let unpublished = Unpublished::Of { author: Some(7), statuses: draft };
        assert_eq!(own, Some(Scope { published: true, unpublished }));
        let several = Scope::of(&actor(Role::Editor), Some(&of(&["pending", "a", "draft"])));
        let sorted = ["a", "draft", "pending"].map(|text| Status::parse(text).unwrap()).to_vec();
        let unpublished = Unpublished::Of { author: None, statuses: Some(sorted) };
        assert_eq!(several, Some(Scope { published: false, unpublished }));
        let trash = Scope::of(&actor(Role::Contributor), Some(&of(&["trash"])));
        assert_eq!(trash, Some(Scope { published: false, unpublished: Unpublished::None }));
        let all = Scope::of(&actor(Role::Editor), None).unwrap();
        assert_eq!(all.unpublished, Unpublished::Of { author: None, statuses: None });
    }
}
