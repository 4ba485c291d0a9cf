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
        /// Title.
        #[param(value_type = String, min_length = 1, max_length = 1000, required = true)]
        pub title: Option<FilledText>,
        /// Start date and time.
        #[param(value_type = String, min_length = 1, required = true)]
        pub start_date: Option<DateInput>,
        /// End date and time.
        #[param(value_type = String, min_length = 1, required = true)]
        pub end_date: Option<DateInput>,
        /// User id of the author.
        #[param(value_type = i64, minimum = 1)]
        pub author: Option<Positive>,
        /// Publication date in the zone of the site.
        #[param(value_type = String, min_length = 1)]
        pub date: Option<DateInput>,
        /// Publication date in UTC.
        #[param(value_type = String, min_length = 1)]
        pub date_utc: Option<DateInput>,
        /// Description, with HTML.
        #[param(value_type = String)]
        pub description: Option<Text>,
        /// Slug; made from the title or name when empty.
        #[param(value_type = String, max_length = 200)]
        pub slug: Option<SlugText>,
        /// Excerpt, with HTML.
        #[param(value_type = String)]
        pub excerpt: Option<Text>,
        /// Status: publish, future, draft, pending, private, trash, or a custom text that counts as
        /// draft.
        #[param(value_type = String, min_length = 1, max_length = 20)]
        pub status: Option<StatusText>,
        /// Time zone: IANA name, UTC±H, ±HH:MM or an abbreviation.
        #[param(value_type = String)]
        pub timezone: Option<Text>,
        /// All-day event.
        #[param(value_type = bool, default = false)]
        pub all_day: Option<Flag>,
        /// Image id or URL; empty clears it.
        #[param(value_type = String)]
        pub image: Option<Value>,
        /// Cost: text, number, or a list of them.
        #[param(value_type = Value)]
        pub cost: Option<Value>,
        /// Website URL; by default the page of the event.
        #[param(inline, value_type = AnyOrNull)]
        pub website: Option<Website>,
        /// Show a map.
        #[param(value_type = bool)]
        pub show_map: Option<Flag>,
        /// Show a map link.
        #[param(value_type = bool)]
        pub show_map_link: Option<Flag>,
        /// Hide from lists.
        #[param(value_type = bool)]
        pub hide_from_listings: Option<Flag>,
        /// Sticky in calendar view.
        #[param(value_type = bool)]
        pub sticky: Option<Flag>,
        /// Featured.
        #[param(value_type = bool)]
        pub featured: Option<Flag>,
        /// Category ids, slugs or names; new names are created.
        #[param(value_type = Vec<Value>, max_items = 1000, default = json!(null))]
        pub categories: Option<Items>,
        /// Tag ids, slugs or names; new names are created.
        #[param(value_type = Vec<Value>, max_items = 1000, default = json!(null))]
        pub tags: Option<Items>,
        /// Venue id, venue data, or a list of them.
        #[param(inline, value_type = LinkedReferences)]
        pub venue: Option<Value>,
        /// Organizer id, organizer data, or a list of them.
        #[param(inline, value_type = LinkedReferences)]
        pub organizer: Option<Value>,
        /// Password that protects the event; empty clears it.
        #[param(value_type = String, max_length = 1000)]
        pub password: Option<ShortText>,
        /// Whether it takes place as announced: `scheduled`, `cancelled`, `postponed` or
        /// `rescheduled`. Extension.
        #[param(value_type = String)]
        pub event_status: Option<EventStatusText>,
        /// Reason for `event_status`, without HTML. Extension.
        #[param(value_type = String, max_length = 1000)]
        pub event_status_reason: Option<ShortText>,
        /// How the event repeats: `rrule` of RFC 5545, `until` or `count`, `exdates` and `rdates`; or
        /// these as lines of a calendar file. Rules count in local time: a time that a clock change
        /// skips moves forward, and of an hour that occurs twice, the first one counts. `null` gets 400
        /// if the event belongs to a series. Extension.
        #[param(inline, value_type = RecurrenceInput)]
        pub recurrence: Option<Value>,
        /// The events of a series that a change applies to: `this`, `following` or `all`. The latter two
        /// get 400 if the event does not belong to a series. Extension.
        #[param(inline, value_type = ScopeWords)]
        pub scope: Option<ScopeWord>,
    }
}

/// Defines the fields of a venue or organizer: the shared ones, followed by its own.
///
/// `nulls` is the default that the API we are compatible with declares for most fields of the kind.
macro_rules! linked_parameters {
    ($(#[$doc:meta])* $type:ident, $name:ident, nulls: [$($null:tt)*], { $($own:tt)* }) => {
        parameters! {
            $(#[$doc])*
            $type {
                /// Name.
                #[param(value_type = String, min_length = 1, max_length = 1000, required = true$($null)*)]
                pub $name: Option<FilledText>,
                /// User id of the author.
                #[param(value_type = i64, minimum = 1$($null)*)]
                pub author: Option<Positive>,
                /// Publication date in the zone of the site.
                #[param(value_type = String, min_length = 1$($null)*)]
                pub date: Option<DateInput>,
                /// Publication date in UTC.
                #[param(value_type = String, min_length = 1$($null)*)]
                pub date_utc: Option<DateInput>,
                /// Description, with HTML.
                #[param(value_type = String, default = json!(null))]
                pub description: Option<Text>,
                /// Excerpt, with HTML.
                #[param(value_type = String)]
                pub excerpt: Option<Text>,
                /// Slug; made from the title or name when empty.
                #[param(value_type = String, max_length = 200)]
                pub slug: Option<SlugText>,
                /// Status: publish, future, draft, pending, private, trash, or a custom text that
                /// counts as draft.
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
        /// Whether events linked to the venue show a map.
        #[param(value_type = bool, default = json!(null))]
        pub show_map: Option<LenientFlag>,
        /// Whether events linked to the venue show a map link.
        #[param(value_type = bool, default = json!(null))]
        pub show_map_link: Option<LenientFlag>,
        /// Street and number.
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
        /// Image id or URL; empty clears it.
        #[param(value_type = String, default = json!(null))]
        pub image: Option<Value>,
        /// Latitude, -90 to 90.
        #[param(value_type = f64, minimum = -90, maximum = 90)]
        pub geo_lat: Option<Value>,
        /// Longitude, -180 to 180.
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
        /// Mail address.
        #[param(value_type = String, max_length = 1000, default = json!(null))]
        pub email: Option<ShortText>,
        /// Image id or URL; empty clears it.
        #[param(value_type = String, default = json!(null))]
        pub image: Option<Value>,
    }
}

/// Defines the fields of a term: the shared ones, followed by its own.
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
                /// Slug; made from the name when absent.
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
        /// Id of the parent category.
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
        /// Address of an iCalendar file: http, https or webcal.
        #[param(value_type = String, min_length = 1, max_length = 2000, required = true)]
        pub url: Option<Text>,
        /// Minutes between two runs, at least SUBSCRIPTION_INTERVAL_MIN; 60 by default.
        #[param(value_type = i64, minimum = 1, maximum = 43200)]
        pub interval: Option<Positive>,
        /// User id of the author of new events; by default the caller.
        #[param(value_type = i64, minimum = 1)]
        pub author: Option<Positive>,
        /// Status of new events: publish (default), draft, pending or private.
        #[param(value_type = String, min_length = 1, max_length = 20)]
        pub status: Option<StatusText>,
        /// Id of a category of all its events; 0 for none.
        #[param(value_type = i64, minimum = 0)]
        pub category: Option<IdOrZero>,
        /// Id of the venue of events without a location; 0 for none.
        #[param(value_type = i64, minimum = 0)]
        pub venue: Option<IdOrZero>,
        /// Takes over events that an import created with the same UIDs.
        #[param(value_type = bool, default = false)]
        pub adopt: Option<Flag>,
    }
}

parameters! {
    /// Specifies an event, and which user changes to release.
    ReleaseFields {
        /// Id of the event.
        #[param(value_type = i64, minimum = 1, required = true)]
        pub event: Option<Positive>,
        /// Parts to release: title, description, dates, website, venue, organizer, categories, status,
        /// event_status; all by default.
        #[param(value_type = Vec<String>, max_items = 1000)]
        pub fields: Option<Texts>,
    }
}
