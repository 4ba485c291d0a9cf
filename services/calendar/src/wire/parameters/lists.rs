//! List parameters.

use std::sync::LazyLock;

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::declared::{Declared, list_parameters};
use super::schemas::{
    CollapseWords, DirectionWords, EventSortWords, IdList, TermSortWords, UnitWords,
};
use crate::wire::values::{
    Collapse, Date, Descending, EventSort, FilledText, Flag, Ids, Latitude, LengthUnit,
    LenientFlag, Longitude, Parent, Positive, Radius, ShortText, StrictDates, TermSort, Text,
    Texts,
};

list_parameters! {
    /// Event list parameters.
    EventListParameters {
        /// Only events that start on or after this date, such as `2027-03-01` or
        /// `2027-03-01 19:00:00`. Default: yesterday, unless `starts_before`, `starts_after`,
        /// `ends_before` or `ends_after` is given.
        #[param(value_type = String, min_length = 1)]
        pub start_date: Option<Date>,
        /// Only events that end on or before this date, such as `2027-03-01` or
        /// `2027-03-01 19:00:00`. Default: two years from now, unless `starts_before`,
        /// `starts_after`, `ends_before` or `ends_after` is given.
        #[param(value_type = String, min_length = 1)]
        pub end_date: Option<Date>,
        /// Only events that start before the end of this day. With `strict_dates`, only those that
        /// start before this time.
        #[param(value_type = String, min_length = 1)]
        pub starts_before: Option<Date>,
        /// Only events that start after this day. With `strict_dates`, only those that start after
        /// this time.
        #[param(value_type = String, min_length = 1)]
        pub starts_after: Option<Date>,
        /// Only events that end on or before this day. With `strict_dates`, only those that end
        /// before this time.
        #[param(value_type = String, min_length = 1)]
        pub ends_before: Option<Date>,
        /// Only events that end after this day. With `strict_dates`, only those that end after this
        /// time.
        #[param(value_type = String, min_length = 1)]
        pub ends_after: Option<Date>,
        /// Whether date filters use the exact times instead of whole days. True for `true`, `1`,
        /// `on` and `yes`; false for anything else.
        #[param(value_type = bool, default = false)]
        pub strict_dates: Option<StrictDates>,
        /// Whether to include events that start before the window or end after it, but overlap it.
        #[param(value_type = bool, default = false)]
        pub overlaps: Option<Flag>,
        /// Words that the title, description or excerpt must contain, in any order. Quote a phrase,
        /// and put `-` before a word to exclude it.
        #[param(value_type = String, min_length = 1, max_length = 1000)]
        pub search: Option<FilledText>,
        /// Category ids, slugs or names. Matches events in any of these categories or their
        /// descendants.
        #[param(value_type = Vec<String>, min_items = 1, max_items = 1000)]
        pub categories: Option<Texts>,
        /// Tag ids, slugs or names. Matches events with any of these tags.
        #[param(value_type = Vec<String>, min_items = 1, max_items = 1000)]
        pub tags: Option<Texts>,
        /// Venue ids. Matches events at any of these venues.
        #[param(inline, value_type = IdList)]
        pub venue: Option<Ids>,
        /// Organizer ids. Matches events by any of these organizers.
        #[param(inline, value_type = IdList)]
        pub organizer: Option<Ids>,
        /// `true` returns only featured events; `false` returns only events that are not featured.
        #[param(value_type = bool)]
        pub featured: Option<Flag>,
        /// Comma-separated statuses, or `any` for all except `trash`. Default: all statuses that
        /// the caller may see, except `trash`.
        #[param(value_type = String, min_length = 1)]
        pub status: Option<Texts>,
        /// `true` returns only events whose venue has coordinates. `false` does not filter.
        #[param(value_type = bool)]
        pub geoloc: Option<Flag>,
        /// Latitude of the center of the search area, in degrees. Requires `geoloc_lng`.
        #[param(value_type = f64, minimum = -90, maximum = 90)]
        pub geoloc_lat: Option<Latitude>,
        /// Longitude of the center of the search area, in degrees. Requires `geoloc_lat`.
        #[param(value_type = f64, minimum = -180, maximum = 180)]
        pub geoloc_lng: Option<Longitude>,
        /// Radius of the search area, in `geoloc_unit`. Default: the GEO_RADIUS setting.
        #[param(value_type = f64, exclusive_minimum = 0, maximum = 100000)]
        pub geoloc_radius: Option<Radius>,
        /// Unit of `geoloc_radius`: `miles` or `km`. Default: the GEO_UNIT setting.
        #[param(inline, value_type = UnitWords)]
        pub geoloc_unit: Option<LengthUnit>,
        /// Only events with these ids. Date filters are ignored.
        #[param(inline, value_type = IdList)]
        pub include: Option<Ids>,
        /// Only events whose parent is this event.
        #[param(value_type = i64, minimum = 1)]
        pub post_parent: Option<Positive>,
        /// Only events of the series with this id. Extension.
        #[param(value_type = i64, minimum = 1)]
        pub series: Option<Positive>,
        /// `series` returns only the next event of each series, or the last event of a series that
        /// is over. Extension.
        #[param(inline, value_type = CollapseWords)]
        pub collapse: Option<Collapse>,
        /// `true` returns an empty list, because this service does not support tickets. `false`
        /// does not filter.
        #[param(value_type = bool)]
        pub ticketed: Option<Flag>,
        /// Only events that changed at or after this time, sorted by the time of the change. Events
        /// that are no longer visible are listed in `deleted`. Can only be combined with
        /// `after_id`, `per_page`, `password`, `context` and `_fields`. Extension.
        #[param(value_type = String, min_length = 1)]
        pub modified_after: Option<Date>,
        /// Skips events with ids up to and including this one that changed in the same second as
        /// `modified_after`. Set by `next_rest_url`. Extension.
        #[param(value_type = i64, minimum = 1)]
        pub after_id: Option<Positive>,
        /// Shows the full details of events that are protected by this password.
        #[param(value_type = String, max_length = 1000)]
        pub password: Option<ShortText>,
        /// `edit` shows protected events in full to callers who may edit them.
        #[param(value_type = String, default = "view")]
        pub context: Option<Text>,
        /// Sort direction: `asc` or `desc`.
        #[param(inline, value_type = DirectionWords)]
        pub order: Option<Descending>,
        /// Sort key: `start_date`, `date` (publication date), `title` or `id`. With `include`, the
        /// default is `date`.
        #[param(inline, value_type = EventSortWords)]
        pub orderby: Option<EventSort>,
    }
}

/// Event list parameters whose meaning doesn't change during a day. If a request has any other
/// parameter, its response is only reused within the same second.
pub const UNDATED: [&str; 17] = [
    "page",
    "per_page",
    "search",
    "categories",
    "tags",
    "venue",
    "organizer",
    "featured",
    "status",
    "geoloc",
    "include",
    "post_parent",
    "series",
    "ticketed",
    "order",
    "orderby",
    "_fields",
];

/// Event feed parameters. These are the event list parameters, except for those that concern JSON
/// output or changes.
pub struct FeedParameters;

impl Declared for FeedParameters {
    fn parameters() -> &'static [Parameter] {
        const OF_LISTS: [&str; 4] = ["modified_after", "after_id", "context", "_fields"];
        static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
            let all = EventListParameters::parameters().iter();
            all.filter(|one| !OF_LISTS.contains(&one.name.as_str())).cloned().collect()
        });
        &PARAMETERS
    }
}

impl IntoParams for FeedParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        FeedParameters::parameters().to_vec()
    }
}

list_parameters! {
    /// Venue and organizer list parameters.
    LinkedListParameters {
        /// Text that the name, description, excerpt or contact details must contain.
        #[param(value_type = String, min_length = 1, max_length = 1000)]
        pub search: Option<FilledText>,
        /// Only items that are linked to this event.
        #[param(value_type = i64, minimum = 1)]
        pub event: Option<Positive>,
        /// Whether to return items with events or those without. True for `true`, `1`, `on`, `y`,
        /// `yes`, `enable` and `enabled`; false for anything else.
        #[param(value_type = bool)]
        pub has_events: Option<LenientFlag>,
        /// Whether to return only items with upcoming events. True for `true`, `1`, `on`, `y`,
        /// `yes`, `enable` and `enabled`; false for anything else.
        #[param(value_type = bool, default = false)]
        pub only_with_upcoming: Option<LenientFlag>,
        /// Comma-separated statuses, or `any` for all except `trash`. Default: all statuses that
        /// the caller may see, except `trash`.
        #[param(value_type = String, min_length = 1)]
        pub status: Option<Texts>,
    }
}

/// Defines the parameters of a term list: the shared parameters, followed by those specific to the
/// taxonomy.
macro_rules! term_list_parameters {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        list_parameters! {
            $(#[$doc])*
            $name {
                /// Text that the name or slug must contain.
                #[param(value_type = String, min_length = 1, max_length = 1000)]
                pub search: Option<FilledText>,
                /// Ids to leave out.
                #[param(inline, value_type = IdList)]
                pub exclude: Option<Ids>,
                /// Ids to return.
                #[param(inline, value_type = IdList)]
                pub include: Option<Ids>,
                /// Sort direction: `asc`, `ascending`, `desc` or `descending`.
                #[param(inline, value_type = DirectionWords)]
                pub order: Option<Descending>,
                /// Sort key: `id`, `include`, `name`, `slug`, `include_slugs`, `term_group`,
                /// `description`, `count` or `parent`. `include` and `include_slugs` keep the order
                /// of the `include` or `slug` parameter.
                #[param(inline, value_type = TermSortWords)]
                pub orderby: Option<TermSort>,
                /// Whether to leave out terms without events. Ignored with `post` or `event`.
                #[param(value_type = bool, default = true)]
                pub hide_empty: Option<Flag>,
                $($own)*
                /// Only this event's terms.
                #[param(value_type = i64, minimum = 1)]
                pub post: Option<Positive>,
                /// Alias for `post`, which it overrides.
                #[param(value_type = i64, minimum = 1)]
                pub event: Option<Positive>,
                /// Comma-separated slugs. Matches terms with any of these slugs.
                #[param(value_type = String)]
                pub slug: Option<Texts>,
            }
        }
    };
}

term_list_parameters! {
    /// Category list parameters.
    CategoryListParameters {
        /// Only direct children of this category; 0 for top-level categories.
        #[param(value_type = i64, minimum = 0)]
        pub parent: Option<Parent>,
    }
}

term_list_parameters! {
    /// Tag list parameters.
    TagListParameters {}
}
