//! Columns that lists can be filtered by. To add a filter on an existing column with few distinct
//! values, extend the column list, [`Traits::matches`], and [`append_columns`].

use std::cmp::Ordering;

use diesel::Queryable;
use diesel::sql_types::{BigInt, Bool, Text};

use crate::model::list::{EventFilter, EventOrder, Scope, Unpublished};
use crate::model::status::{Stage, Status};
use crate::store::conditions::visible;
use crate::store::sql::Sql;

/// Columns with few distinct values. In the index, events with the same values share a trait
/// number, and a filter has to check each trait number only once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Queryable)]
pub struct Traits {
    pub status: String,
    pub author_id: i64,
    pub listed: bool,
    pub featured: bool,
}

/// SQL types of [`Traits`], in field order.
pub type TraitTypes = (Text, BigInt, Bool, Bool);

/// Columns of [`Traits`], in field order.
pub const TRAITS: &str = "status, author_id, listed, featured";

/// An event's dates, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable)]
pub struct Times {
    pub start_local: i64,
    pub end_local: i64,
    pub start_utc: i64,
    pub end_utc: i64,
    pub published_utc: i64,
    pub modified_utc: i64,
}

/// SQL types of [`Times`], in field order.
pub type TimeTypes = (BigInt, BigInt, BigInt, BigInt, BigInt, BigInt);

/// Columns of [`Times`], in field order.
pub const TIMES: &str = "start_local, end_local, start_utc, end_utc, published_utc, modified_utc";

impl Traits {
    /// Returns whether events with these values can match a filter.
    pub fn matches(&self, filter: &EventFilter) -> bool {
        let EventFilter {
            scope,
            featured,
            // Conditions on sets of events, which `query` intersects.
            words: _,
            categories: _,
            tags: _,
            venues: _,
            organizers: _,
            include: _,
            parent: _,
            series: _,
            geo: _,
            venue_scope: _,
            // Compared with each event's dates.
            window: _,
            matches_nothing: _,
            // Applied to the result.
            collapsed_at: _,
            order: _,
            descending: _,
        } = filter;
        self.is_visible(scope) && featured.is_none_or(|wanted| wanted == self.featured)
    }

    /// Returns whether a caller can see events with these values in lists.
    pub fn is_visible(&self, scope: &Scope) -> bool {
        if !self.listed {
            return false;
        }
        if self.status == Status::of(Stage::Publish).as_str() {
            return scope.published;
        }
        let Unpublished::Of { author, statuses } = &scope.unpublished else { return false };
        let has_status = match statuses {
            // Both the request and the calendar can have up to a thousand statuses.
            Some(statuses) => {
                statuses.binary_search_by(|status| status.as_str().cmp(&self.status)).is_ok()
            }
            None => self.status != Status::of(Stage::Trash).as_str(),
        };
        has_status && author.is_none_or(|author| author == self.author_id)
    }
}

/// Appends the SQL equivalent of [`Traits::matches`] for alias `e`.
pub fn append_conditions(sql: &mut Sql, filter: &EventFilter) {
    visible(sql, &filter.scope);
    append_columns(sql, filter);
}

/// Appends the SQL equivalent of [`Traits::matches`] for alias `e`, without visibility.
pub fn append_columns(sql: &mut Sql, filter: &EventFilter) {
    if let Some(featured) = filter.featured {
        sql.push(if featured { " and e.featured" } else { " and not e.featured" });
    }
}

/// Sort keys that the index supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Start,
    Date,
    Title,
    Id,
    Modified,
}

impl Key {
    /// All keys, in order of their discriminants.
    pub const ALL: [Key; 5] = [Key::Start, Key::Date, Key::Title, Key::Id, Key::Modified];

    /// Compares two events by this key. Doesn't compare titles or ids.
    pub fn compare(self, a: &Times, b: &Times) -> Ordering {
        match self {
            Key::Start => (a.start_local, a.published_utc).cmp(&(b.start_local, b.published_utc)),
            Key::Date => a.published_utc.cmp(&b.published_utc),
            Key::Modified => a.modified_utc.cmp(&b.modified_utc),
            Key::Title | Key::Id => Ordering::Equal,
        }
    }
}

impl From<EventOrder> for Key {
    fn from(order: EventOrder) -> Key {
        match order {
            EventOrder::Start => Key::Start,
            EventOrder::Date => Key::Date,
            EventOrder::Title => Key::Title,
            EventOrder::Id => Key::Id,
        }
    }
}
