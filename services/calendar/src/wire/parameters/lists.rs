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
    LenientFlag, Longitude, Parent, Positive, Radius, ShortText, StrictDates, TermSort, Texts,
};

list_parameters! {
    /// Event list parameters.
    EventListParameters {
        /// Events that start at this date or later; default yesterday, written YYYY-MM-DD HH:MM:SS.
        #[param(value_type = String, min_length = 1)]
        pub start_date: Option<Date>,
        /// Events that end at this date or earlier; default two years from now, written YYYY-MM-DD HH:MM:SS.
        #[param(value_type = String, min_length = 1)]
        pub end_date: Option<Date>,
        /// Events that start before this date.
        #[param(value_type = String, min_length = 1)]
        pub starts_before: Option<Date>,
        /// Events that start after this date.
        #[param(value_type = String, min_length = 1)]
        pub starts_after: Option<Date>,
        /// Events that end before this date.
        #[param(value_type = String, min_length = 1)]
        pub ends_before: Option<Date>,
        /// Events that end after this date.
        #[param(value_type = String, min_length = 1)]
        pub ends_after: Option<Date>,
        /// Uses the given times instead of whole days: true, 1, on or yes; everything else is
        /// false.
        #[param(value_type = bool, default = false)]
        pub strict_dates: Option<StrictDates>,
        /// Also events that overlap the window.
        #[param(value_type = bool, default = false)]
        pub overlaps: Option<Flag>,
        /// Words that must occur in title, description or excerpt; "a phrase", -without.
        #[param(value_type = String, min_length = 1, max_length = 1000)]
        pub search: Option<FilledText>,
        /// Category ids, slugs or names; any match, descendants included.
        #[param(value_type = Vec<String>, min_items = 1, max_items = 1000)]
        pub categories: Option<Texts>,
        /// Tag ids, slugs or names; any match.
        #[param(value_type = Vec<String>, min_items = 1, max_items = 1000)]
        pub tags: Option<Texts>,
        /// Venue ids; any match.
        #[param(inline, value_type = IdList)]
        pub venue: Option<Ids>,
        /// Organizer ids; any match.
        #[param(inline, value_type = IdList)]
        pub organizer: Option<Ids>,
        /// Only featured events, or only others.
        #[param(value_type = bool)]
        pub featured: Option<Flag>,
        /// Comma list of statuses, or any.
        #[param(value_type = String, min_length = 1)]
        pub status: Option<Texts>,
        /// Events whose venue has coordinates.
        #[param(value_type = bool)]
        pub geoloc: Option<Flag>,
        /// Latitude of a point; needs geoloc_lng.
        #[param(value_type = f64, minimum = -90, maximum = 90)]
        pub geoloc_lat: Option<Latitude>,
        /// Longitude of a point; needs geoloc_lat.
        #[param(value_type = f64, minimum = -180, maximum = 180)]
        pub geoloc_lng: Option<Longitude>,
        /// Radius around the point.
        #[param(value_type = f64, exclusive_minimum = 0, maximum = 100000)]
        pub geoloc_radius: Option<Radius>,
        /// Unit of the radius: miles or km.
        #[param(inline, value_type = UnitWords)]
        pub geoloc_unit: Option<LengthUnit>,
        /// Event ids; date filters are ignored then.
        #[param(inline, value_type = IdList)]
        pub include: Option<Ids>,
        /// Events whose parent is this event.
        #[param(value_type = i64, minimum = 1)]
        pub post_parent: Option<Positive>,
        /// Events of this series. Extension.
        #[param(value_type = i64, minimum = 1)]
        pub series: Option<Positive>,
        /// series: of each series only its next event, or its last one if all are over. Extension.
        #[param(inline, value_type = CollapseWords)]
        pub collapse: Option<Collapse>,
        /// Events with tickets (there are none) or without.
        #[param(value_type = bool)]
        pub ticketed: Option<Flag>,
        /// Events that were changed at this moment or later, in the order of their changes, with
        /// those that are no longer visible in `deleted`. It can be combined with per_page and
        /// password only.
        #[param(value_type = String, min_length = 1)]
        pub modified_after: Option<Date>,
        /// In the second of modified_after, only events with a greater id; set in links to the next
        /// page.
        #[param(value_type = i64, minimum = 1)]
        pub after_id: Option<Positive>,
        /// Shows the events that this password protects.
        #[param(value_type = String, max_length = 1000)]
        pub password: Option<ShortText>,
        /// asc or desc.
        #[param(inline, value_type = DirectionWords)]
        pub order: Option<Descending>,
        /// start_date, date, title or id.
        #[param(inline, value_type = EventSortWords)]
        pub orderby: Option<EventSort>,
    }
}

/// Event feed parameters: the same as for event lists, except for JSON output and changes.
pub struct FeedParameters;

impl Declared for FeedParameters {
    fn parameters() -> &'static [Parameter] {
        const OF_LISTS: [&str; 3] = ["modified_after", "after_id", "_fields"];
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
        /// Text in name, description, excerpt or contact fields.
        #[param(value_type = String, min_length = 1, max_length = 1000)]
        pub search: Option<FilledText>,
        /// Only those linked to this event.
        #[param(value_type = i64, minimum = 1)]
        pub event: Option<Positive>,
        /// Those linked to events: true, 1, on, y, yes or enabled; everything else selects those
        /// without events.
        #[param(value_type = bool)]
        pub has_events: Option<LenientFlag>,
        /// Those linked to upcoming events: true, 1, on, y, yes or enabled; everything else is
        /// false.
        #[param(value_type = bool, default = false)]
        pub only_with_upcoming: Option<LenientFlag>,
        /// Comma list of statuses, or any.
        #[param(value_type = String, min_length = 1)]
        pub status: Option<Texts>,
    }
}

/// Defines the parameters of a term list, including those specific to one kind.
macro_rules! term_list_parameters {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        list_parameters! {
            $(#[$doc])*
            $name {
                /// Text in name or slug.
                #[param(value_type = String, min_length = 1, max_length = 1000)]
                pub search: Option<FilledText>,
                /// Not these ids.
                #[param(inline, value_type = IdList)]
                pub exclude: Option<Ids>,
                /// Only these ids.
                #[param(inline, value_type = IdList)]
                pub include: Option<Ids>,
                /// asc, ascending, desc or descending.
                #[param(inline, value_type = DirectionWords)]
                pub order: Option<Descending>,
                /// id, include, name, slug, include_slugs, term_group, description, count or parent.
                #[param(inline, value_type = TermSortWords)]
                pub orderby: Option<TermSort>,
                /// Leaves out those without events.
                #[param(value_type = bool, default = true)]
                pub hide_empty: Option<Flag>,
                $($own)*
                /// Only those of this event.
                #[param(value_type = i64, minimum = 1)]
                pub post: Option<Positive>,
                /// Alias of post; takes precedence.
                #[param(value_type = i64, minimum = 1)]
                pub event: Option<Positive>,
                /// Comma list of slugs; any match.
                #[param(value_type = String)]
                pub slug: Option<Texts>,
            }
        }
    };
}

term_list_parameters! {
    /// Category list parameters.
    CategoryListParameters {
        /// Direct children of this category; 0 for roots.
        #[param(value_type = i64, minimum = 0)]
        pub parent: Option<Parent>,
    }
}

term_list_parameters! {
    /// Tag list parameters.
    TagListParameters {}
}
