//! Fields of write requests.

use serde_json::Value;

use super::declared::parameters;
use super::schemas::{AnyOrNull, LinkedReferences, RecurrenceInput, ScopeWords};
use crate::wire::values::{
    DateInput, EventStatusText, FilledText, Flag, IdOrZero, Items, LenientFlag, Positive,
    ScopeWord, ShortText, SlugText, StatusText, Text, Texts, Website,
};

parameters! {
    /// Event fields.
    EventFields {
        /// Event title.
        #[param(value_type = String, min_length = 1, max_length = 1000, required = true)]
        pub title: Option<FilledText>,
        /// Start date and time, such as `2027-03-01 19:00`. Without an offset, it is in the event's
        /// time zone.
        #[param(value_type = String, min_length = 1, required = true)]
        pub start_date: Option<DateInput>,
        /// End date and time. An end before the start is replaced with the start.
        #[param(value_type = String, min_length = 1, required = true)]
        pub end_date: Option<DateInput>,
        /// User id of the author. New items default to the caller.
        #[param(value_type = i64, minimum = 1)]
        pub author: Option<Positive>,
        /// Publication date in the site's time zone.
        #[param(value_type = String, min_length = 1)]
        pub date: Option<DateInput>,
        /// Publication date in UTC.
        #[param(value_type = String, min_length = 1)]
        pub date_utc: Option<DateInput>,
        /// Description. May contain HTML.
        #[param(value_type = String)]
        pub description: Option<Text>,
        /// URL slug. If empty, it is generated from the title or name.
        #[param(value_type = String, max_length = 200)]
        pub slug: Option<SlugText>,
        /// Excerpt. May contain HTML.
        #[param(value_type = String)]
        pub excerpt: Option<Text>,
        /// Publication status: `publish`, `future`, `draft`, `pending`, `private`, `trash`, or a
        /// custom status that counts as a draft.
        #[param(value_type = String, min_length = 1, max_length = 20)]
        pub status: Option<StatusText>,
        /// Time zone: an IANA name, an offset such as `UTC+2` or `+02:00`, or an abbreviation.
        #[param(value_type = String)]
        pub timezone: Option<Text>,
        /// Whether the event lasts all day. Times of day are ignored.
        #[param(value_type = bool, default = false)]
        pub all_day: Option<Flag>,
        /// Image id or URL. An empty value removes the image.
        #[param(value_type = String)]
        pub image: Option<Value>,
        /// Cost: a string, a number, or a list of these.
        #[param(value_type = Value)]
        pub cost: Option<Value>,
        /// Website URL. Default: the event's page.
        #[param(inline, value_type = AnyOrNull)]
        pub website: Option<Website>,
        /// Whether to show a map.
        #[param(value_type = bool)]
        pub show_map: Option<Flag>,
        /// Whether to show a link to a map.
        #[param(value_type = bool)]
        pub show_map_link: Option<Flag>,
        /// Whether to hide the event from lists.
        #[param(value_type = bool)]
        pub hide_from_listings: Option<Flag>,
        /// Whether the event is sticky in the calendar view.
        #[param(value_type = bool)]
        pub sticky: Option<Flag>,
        /// Whether the event is featured.
        #[param(value_type = bool)]
        pub featured: Option<Flag>,
        /// Category ids, slugs or names. Unknown names are created as new categories. Names with
        /// commas need an array.
        #[param(value_type = Vec<Value>, max_items = 1000, default = json!(null))]
        pub categories: Option<Items>,
        /// Tag ids, slugs or names. Unknown names are created as new tags. Names with commas need
        /// an array.
        #[param(value_type = Vec<Value>, max_items = 1000, default = json!(null))]
        pub tags: Option<Items>,
        /// Venue id, the fields of a new venue, or a list of these.
        #[param(inline, value_type = LinkedReferences)]
        pub venue: Option<Value>,
        /// Organizer id, the fields of a new organizer, or a list of these.
        #[param(inline, value_type = LinkedReferences)]
        pub organizer: Option<Value>,
        /// Password that protects the event. An empty value removes the protection.
        #[param(value_type = String, max_length = 1000)]
        pub password: Option<ShortText>,
        /// Whether the event is going ahead as announced: `scheduled`, `cancelled`, `postponed` or
        /// `rescheduled`. Extension.
        #[param(value_type = String)]
        pub event_status: Option<EventStatusText>,
        /// Reason for `event_status`, as plain text. Extension.
        #[param(value_type = String, max_length = 1000)]
        pub event_status_reason: Option<ShortText>,
        /// How the event repeats: an object with an RFC 5545 `rrule`, `until` or `count`, `exdates`
        /// and `rdates`; or a string with the iCalendar lines `RRULE`, `EXDATE` and `RDATE`. Rules
        /// count in local time: a time that a clock change skips moves forward, and of an hour that
        /// occurs twice, the first one counts. An object without `exdates` or `rdates` keeps those
        /// of the series, and a sent list, also an empty one, replaces them; a string replaces all.
        /// `null` gets 400 if the event belongs to a series.
        /// Extension.
        #[param(inline, value_type = RecurrenceInput)]
        pub recurrence: Option<Value>,
        /// For an event in a series, the events to change: `this`, `following` (this event and all
        /// later ones) or `all`. The latter two get 400 if the event does not belong to a series.
        /// Extension.
        #[param(inline, value_type = ScopeWords)]
        pub scope: Option<ScopeWord>,
    }
}

/// Defines the fields of a venue or organizer: the shared fields, followed by the fields specific
/// to the kind.
///
/// `nulls` is the default that the upstream API declares for most of the kind's fields.
macro_rules! linked_parameters {
    ($(#[$doc:meta])* $type:ident, $name:ident, nulls: [$($null:tt)*], { $($own:tt)* }) => {
        parameters! {
            $(#[$doc])*
            $type {
                /// Name.
                #[param(value_type = String, min_length = 1, max_length = 1000, required = true$($null)*)]
                pub $name: Option<FilledText>,
                /// User id of the author. New items default to the caller.
                #[param(value_type = i64, minimum = 1$($null)*)]
                pub author: Option<Positive>,
                /// Publication date in the site's time zone.
                #[param(value_type = String, min_length = 1$($null)*)]
                pub date: Option<DateInput>,
                /// Publication date in UTC.
                #[param(value_type = String, min_length = 1$($null)*)]
                pub date_utc: Option<DateInput>,
                /// Description. May contain HTML.
                #[param(value_type = String, default = json!(null))]
                pub description: Option<Text>,
                /// Excerpt. May contain HTML.
                #[param(value_type = String)]
                pub excerpt: Option<Text>,
                /// URL slug. If empty, it is generated from the title or name.
                #[param(value_type = String, max_length = 200)]
                pub slug: Option<SlugText>,
                /// Publication status: `publish`, `future`, `draft`, `pending`, `private`, `trash`,
                /// or a custom status that counts as a draft.
                #[param(value_type = String, min_length = 1, max_length = 20$($null)*)]
                pub status: Option<StatusText>,
                $($own)*
            }
        }
    };
}

linked_parameters! {
    /// Venue fields.
    VenueFields, venue, nulls: [], {
        /// Whether events at this venue show a map. New venues default to true.
        #[param(value_type = bool, default = json!(null))]
        pub show_map: Option<LenientFlag>,
        /// Whether events at this venue show a link to a map. New venues default to true.
        #[param(value_type = bool, default = json!(null))]
        pub show_map_link: Option<LenientFlag>,
        /// Street and house number.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub address: Option<ShortText>,
        /// City.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub city: Option<ShortText>,
        /// Country.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub country: Option<ShortText>,
        /// Province.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub province: Option<ShortText>,
        /// State.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub state: Option<ShortText>,
        /// Postal code.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub zip: Option<ShortText>,
        /// Phone number.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub phone: Option<ShortText>,
        /// State or province.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub stateprovince: Option<ShortText>,
        /// Website URL.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub website: Option<Website>,
        /// Image id or URL. An empty value removes the image.
        #[param(value_type = String, default = json!(null))]
        pub image: Option<Value>,
        /// Latitude in degrees, -90 to 90.
        #[param(value_type = f64, minimum = -90, maximum = 90)]
        pub geo_lat: Option<Value>,
        /// Longitude in degrees, -180 to 180.
        #[param(value_type = f64, minimum = -180, maximum = 180)]
        pub geo_lng: Option<Value>,
    }
}

linked_parameters! {
    /// Organizer fields.
    OrganizerFields, organizer, nulls: [, default = json!(null)], {
        /// Phone number.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub phone: Option<ShortText>,
        /// Website URL.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub website: Option<Website>,
        /// Email address.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub email: Option<ShortText>,
        /// Image id or URL. An empty value removes the image.
        #[param(value_type = String, default = json!(null))]
        pub image: Option<Value>,
    }
}

/// Defines the fields of a term: the shared fields, followed by the fields specific to the
/// taxonomy.
macro_rules! term_parameters {
    ($(#[$doc:meta])* $type:ident { $($own:tt)* }) => {
        parameters! {
            $(#[$doc])*
            $type {
                /// Name.
                #[param(value_type = String, min_length = 1, max_length = 1000, required = true)]
                pub name: Option<FilledText>,
                /// Description.
                #[param(value_type = String, max_length = 1000)]
                pub description: Option<ShortText>,
                /// URL slug. Default: generated from the name.
                #[param(value_type = String, max_length = 200)]
                pub slug: Option<SlugText>,
                $($own)*
            }
        }
    };
}

term_parameters! {
    /// Category fields.
    CategoryFields {
        /// Id of the parent category; 0 for a top-level category.
        #[param(value_type = i64)]
        pub parent: Option<Value>,
    }
}

term_parameters! {
    /// Tag fields.
    TagFields {}
}

parameters! {
    /// Fields of a subscription to another calendar.
    SubscriptionFields {
        /// URL of the iCalendar file: `http`, `https` or `webcal`.
        #[param(value_type = String, min_length = 1, max_length = 2000, required = true)]
        pub url: Option<Text>,
        /// Minutes between runs, at least SUBSCRIPTION_INTERVAL_MIN. Default: 60, or
        /// SUBSCRIPTION_INTERVAL_MIN if it is higher.
        #[param(value_type = i64, minimum = 1, maximum = 43200)]
        pub interval: Option<Positive>,
        /// User id of the author of new events. Default: the caller.
        #[param(value_type = i64, minimum = 1)]
        pub author: Option<Positive>,
        /// Status of new events: `publish` (default), `draft`, `pending` or `private`.
        #[param(value_type = String, min_length = 1, max_length = 20)]
        pub status: Option<StatusText>,
        /// Id of a category to add to all events; 0 for none.
        #[param(value_type = i64, minimum = 0)]
        pub category: Option<IdOrZero>,
        /// Id of the venue for events without a location; 0 for none.
        #[param(value_type = i64, minimum = 0)]
        pub venue: Option<IdOrZero>,
        /// Whether to take over events that an import created with the same UIDs.
        #[param(value_type = bool, default = false)]
        pub adopt: Option<Flag>,
    }
}

parameters! {
    /// Specifies an event, and which user changes to release.
    ReleaseFields {
        /// Id of the event to release. Required unless `uid` is sent.
        #[param(value_type = i64, minimum = 1)]
        pub event: Option<Positive>,
        /// Parts to release: `title`, `description`, `dates`, `website`, `venue`, `organizer`,
        /// `categories`, `status` and `event_status`. Default: all parts.
        #[param(value_type = Vec<String>, max_items = 1000)]
        pub fields: Option<Texts>,
        /// UID, as in the file, of a series that ended because users erased its last dates. The
        /// next run creates its later dates again.
        #[param(value_type = String, min_length = 1, max_length = 500)]
        pub uid: Option<Text>,
    }
}
