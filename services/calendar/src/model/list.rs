//! What a list asks for, after its parameters were read.

use super::geo::Point;
use super::role::{self, Actor};
use super::search::Words;
use super::status::Status;
use super::window::Window;

/// Rows on a page where neither the request nor the site says how many.
pub const PER_PAGE: i64 = 10;

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Number of the page, from 1.
    pub page: i64,
    /// Rows on a page.
    pub per_page: i64,
}

impl Paging {
    /// Returns how many rows precede the page.
    pub fn offset(self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// Returns the number of pages that hold a number of rows.
    pub fn pages(self, total: i64) -> i64 {
        (total + self.per_page - 1) / self.per_page
    }
}

/// The rows of a page, counted from the nearer end of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Rows before it.
    pub skip: i64,
    /// Rows of it.
    pub take: i64,
    /// Counted from the end: the rows come in reverse.
    pub backwards: bool,
}

impl Slice {
    /// Returns the slice of a page in a list of so many rows; `None` where the page is past the end.
    pub fn of(paging: Paging, total: i64) -> Option<Slice> {
        let before = paging.offset();
        let take = paging.per_page.min(total - before);
        let behind = total - before - take;
        let backwards = behind < before;
        let skip = if backwards { behind } else { before };
        (take > 0).then_some(Slice { skip, take, backwards })
    }
}

/// Which statuses a caller gets to see in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Published ones are among them.
    pub published: bool,
    /// What is shown besides the published ones.
    pub unpublished: Unpublished,
}

/// What a list shows besides published resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpublished {
    /// Nothing else.
    None,
    /// Of this author, or of everybody; in these statuses, or in all but the trash.
    Of {
        /// Only those of this user.
        author: Option<i64>,
        /// Only these statuses.
        statuses: Option<Vec<Status>>,
    },
}

/// The `status` parameter of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusFilter {
    /// All of them.
    Any,
    /// Only these.
    Of(Vec<Status>),
}

impl Scope {
    /// Only what is published.
    pub fn public() -> Scope {
        Scope { published: true, unpublished: Unpublished::None }
    }

    /// All that is not in the trash.
    pub fn untrashed() -> Scope {
        Scope { published: true, unpublished: Unpublished::Of { author: None, statuses: None } }
    }

    /// Tells whether nothing but published resources is asked for.
    pub fn is_public(&self) -> bool {
        *self == Scope::public()
    }

    /// Computes the scope; `None` when the caller may not ask for it.
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
        let unpublished: Vec<Status> = statuses
            .iter()
            .filter(|status| !status.is_published())
            // What lies in the trash is for editors.
            .filter(|status| author.is_none() || !status.is_trashed())
            .cloned()
            .collect();
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

/// The order of a list of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOrder {
    /// By start, publication date and id.
    Start,
    /// By publication date.
    Date,
    /// By title, without case and accents.
    Title,
    /// By id.
    Id,
}

/// A place filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Geo {
    /// The venue has coordinates.
    Known,
    /// The venue lies within a radius.
    Near {
        /// The middle of the circle.
        point: Point,
        /// The radius in kilometres.
        km: f64,
    },
}

/// What a list of events asks for; `None` filters nothing.
#[derive(Clone, Debug)]
pub struct EventFilter {
    /// Which statuses are seen.
    pub scope: Scope,
    /// Which dates are wanted.
    pub window: Window,
    /// Which words are wanted.
    pub words: Words,
    /// Any of these categories.
    pub categories: Option<Vec<i64>>,
    /// Any of these tags.
    pub tags: Option<Vec<i64>>,
    /// Any of these venues.
    pub venues: Option<Vec<i64>>,
    /// Any of these organizers.
    pub organizers: Option<Vec<i64>>,
    /// Only featured ones, or only others.
    pub featured: Option<bool>,
    /// Only these ids.
    pub include: Option<Vec<i64>>,
    /// Below this parent.
    pub parent: Option<i64>,
    /// Only in some place.
    pub geo: Option<Geo>,
    /// Which venues a place filter may lead to.
    pub venue_scope: Scope,
    /// Nothing can match, as with `ticketed=true`.
    pub matches_nothing: bool,
    /// What decides the order.
    pub order: EventOrder,
    /// The other way round.
    pub descending: bool,
}

impl EventFilter {
    /// Returns a filter that nothing but the window narrows.
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
            geo: None,
            venue_scope: Scope::public(),
            matches_nothing: false,
            order: EventOrder::Start,
            descending: false,
        }
    }
}

/// What a list of venues or organizers asks for.
#[derive(Clone, Debug)]
pub struct LinkedFilter {
    /// Which statuses are seen.
    pub scope: Scope,
    /// Who asks, for rules about the linked events.
    pub actor: Actor,
    /// A text to look for.
    pub search: Option<String>,
    /// Linked to this event.
    pub event: Option<i64>,
    /// With events, or without.
    pub has_events: Option<bool>,
    /// Linked to an event that starts at this instant or later.
    pub upcoming_since: Option<i64>,
}

/// The order of a list of terms.
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
    /// The order of `include`, or of `slug` where slugs are listed.
    Given,
}

/// What a list of terms asks for.
#[derive(Clone, Debug)]
pub struct TermFilter {
    /// A text to look for.
    pub search: Option<String>,
    /// Only these ids.
    pub include: Option<Vec<i64>>,
    /// None of these ids.
    pub exclude: Vec<i64>,
    /// Only these slugs.
    pub slugs: Option<Vec<String>>,
    /// Below this parent.
    pub parent: Option<i64>,
    /// Linked to this event.
    pub event: Option<i64>,
    /// Leaves out those without events.
    pub hide_empty: bool,
    /// What decides the order.
    pub order: TermOrder,
    /// The other way round.
    pub descending: bool,
}

#[cfg(test)]
mod tests {
    use super::super::role::{Role, User};
    use super::*;

    #[test]
    fn pages_are_counted_from_the_nearer_end() {
        let of = |page, total| {
            Slice::of(Paging { page, per_page: 10 }, total)
                .map(|slice| (slice.skip, slice.take, slice.backwards))
        };
        assert_eq!(of(1, 0), None);
        assert_eq!(of(1, 3), Some((0, 3, false)));
        assert_eq!(of(1, 25), Some((0, 10, false)));
        assert_eq!(of(2, 25), Some((5, 10, true)));
        assert_eq!(of(3, 25), Some((0, 5, true)));
        assert_eq!(of(2, 30), Some((10, 10, false)));
        assert_eq!(of(3, 30), Some((0, 10, true)));
        assert_eq!(of(4, 30), None);
        assert_eq!(of(i64::MAX, 30), None);
    }

    fn actor(role: Role) -> Actor {
        Some(User { id: 7, login: "x".into(), role })
    }

    fn of(statuses: &[&str]) -> StatusFilter {
        StatusFilter::Of(statuses.iter().filter_map(|text| Status::parse(text)).collect())
    }

    #[test]
    fn strangers_may_only_ask_for_what_is_published() {
        for who in [None, actor(Role::Reader)] {
            assert_eq!(Scope::of(&who, None), Some(Scope::public()));
            assert_eq!(Scope::of(&who, Some(&of(&["publish"]))), Some(Scope::public()));
            assert_eq!(Scope::of(&who, Some(&of(&["publish", "draft"]))), None);
            assert_eq!(Scope::of(&who, Some(&StatusFilter::Any)), None);
        }
    }

    #[test]
    fn authors_see_their_own_and_editors_everything() {
        let own = Scope::of(&actor(Role::Author), Some(&of(&["publish", "draft", "trash"])));
        let draft = Some(vec![Status::parse("draft").unwrap()]);
        let unpublished = Unpublished::Of { author: Some(7), statuses: draft };
        assert_eq!(own, Some(Scope { published: true, unpublished }));
        let trash = Scope::of(&actor(Role::Contributor), Some(&of(&["trash"])));
        assert_eq!(trash, Some(Scope { published: false, unpublished: Unpublished::None }));
        let all = Scope::of(&actor(Role::Editor), None).unwrap();
        assert_eq!(all.unpublished, Unpublished::Of { author: None, statuses: None });
    }
}
