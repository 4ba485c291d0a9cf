//! Every parameter of every operation, declared once for index, OPTIONS and OpenAPI document.

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Integers,
    /// Several types are taken.
    Any,
}

/// The declared default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    None,
    Null,
    Number(i64),
    /// As many rows as the site shows on a page.
    PerPage,
    Flag(bool),
    Word(&'static str),
}

/// A declared parameter.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub preset: Preset,
    pub about: &'static str,
}

const fn arg(name: &'static str, kind: Kind, about: &'static str) -> Arg {
    Arg { name, kind, required: false, preset: Preset::None, about }
}

impl Arg {
    const fn required(self) -> Arg {
        Arg { required: true, ..self }
    }

    const fn preset(self, preset: Preset) -> Arg {
        Arg { preset, ..self }
    }

    const fn null(self) -> Arg {
        self.preset(Preset::Null)
    }
}

use Kind::{Any, Boolean, Integer, Integers, Number, Text};

const PAGE: Arg = arg("page", Integer, "Page of the list, from 1.").preset(Preset::Number(1));
const PER_PAGE: Arg = arg(
    "per_page",
    Integer,
    "Rows per page; more than the site allows counts as the most allowed.",
)
.preset(Preset::PerPage);
const FIELDS: Arg =
    arg("_fields", Text, "Comma list of the keys to answer with; dots descend: events.id,total.");

/// Parameters of the index.
pub const INDEX: &[Arg] = &[
    arg("namespace", Text, "Namespace that is asked for.")
        .preset(Preset::Word("calendar/events/v1")),
    arg("context", Text, "Accepted without effect.").preset(Preset::Word("view")),
];

/// Parameters of the list of events.
pub const EVENT_LIST: &[Arg] = &[
    PAGE,
    PER_PAGE,
    arg(
        "start_date",
        Text,
        "Events that start at this date or later; default yesterday, written YYYY-MM-DD HH:MM:SS.",
    ),
    arg(
        "end_date",
        Text,
        "Events that end at this date or earlier; default two years from now, written YYYY-MM-DD HH:MM:SS.",
    ),
    arg("starts_before", Text, "Events that start before this date."),
    arg("starts_after", Text, "Events that start after this date."),
    arg("ends_before", Text, "Events that end before this date."),
    arg("ends_after", Text, "Events that end after this date."),
    arg("strict_dates", Boolean, "Takes the given times exactly instead of whole days.")
        .preset(Preset::Flag(false)),
    arg("overlaps", Boolean, "Events that overlap the window instead of lying inside it.")
        .preset(Preset::Flag(false)),
    arg(
        "search",
        Text,
        "Words that must occur in title, description or excerpt; \"a phrase\", -without.",
    ),
    arg("categories", Integers, "Category ids, slugs or names; any match, descendants included."),
    arg("tags", Integers, "Tag ids, slugs or names; any match."),
    arg("venue", Integers, "Venue ids; any match."),
    arg("organizer", Integers, "Organizer ids; any match."),
    arg("featured", Boolean, "Only featured events, or only others."),
    arg("status", Text, "Comma list of statuses, or any."),
    arg("geoloc", Boolean, "Events whose venue has coordinates."),
    arg("geoloc_lat", Number, "Latitude of a point; needs geoloc_lng."),
    arg("geoloc_lng", Number, "Longitude of a point; needs geoloc_lat."),
    arg("geoloc_radius", Number, "Radius round the point."),
    arg("geoloc_unit", Text, "Unit of the radius: miles or km."),
    arg("include", Integers, "Event ids; date filters are ignored then."),
    arg("post_parent", Integer, "Events whose parent is this event."),
    arg("ticketed", Boolean, "Events with tickets, of which there are none, or without."),
    arg("password", Text, "Shows the events that this password protects."),
    arg("order", Text, "asc or desc.").preset(Preset::Word("asc")),
    arg("orderby", Text, "start_date, date, title or id.").preset(Preset::Word("start_date")),
    FIELDS,
];

const AUTHOR: Arg = arg("author", Integer, "User id of the author.");
const DATE: Arg = arg("date", Text, "Publication date in the zone of the site.");
const DATE_UTC: Arg = arg("date_utc", Text, "Publication date in UTC.");
const DESCRIPTION: Arg = arg("description", Text, "Description, with HTML.");
const EXCERPT: Arg = arg("excerpt", Text, "Excerpt, with HTML.");
const SLUG: Arg = arg("slug", Text, "Slug; made from the title or name when empty.");
const STATUS: Arg = arg(
    "status",
    Text,
    "Status: publish, future, draft, pending, private, trash, or a free text that counts as draft.",
);
const IMAGE: Arg = arg("image", Text, "Image id or address; empty clears it.");

/// Fields of an event.
pub const EVENT_WRITE: &[Arg] = &[
    arg("title", Text, "Title.").required(),
    arg("start_date", Text, "Start date and time.").required(),
    arg("end_date", Text, "End date and time.").required(),
    AUTHOR,
    DATE,
    DATE_UTC,
    DESCRIPTION,
    SLUG,
    EXCERPT,
    STATUS,
    arg("timezone", Text, "Time zone: IANA name, UTC±H, ±HH:MM or an abbreviation."),
    arg("all_day", Boolean, "Whole-day event.").preset(Preset::Flag(false)),
    IMAGE,
    arg("cost", Any, "Cost: text, number, or a list of them."),
    arg("website", Any, "Website address; the page of the event when there is none.").null(),
    arg("show_map", Boolean, "Show a map."),
    arg("show_map_link", Boolean, "Show a map link."),
    arg("hide_from_listings", Boolean, "Hide from lists."),
    arg("sticky", Boolean, "Sticky in calendar view."),
    arg("featured", Boolean, "Featured."),
    arg("categories", Integers, "Category ids, slugs or names; new names are created.").null(),
    arg("tags", Integers, "Tag ids, slugs or names; new names are created.").null(),
    arg("venue", Integers, "Venue id, venue data, or a list of them.").null(),
    arg("organizer", Integers, "Organizer id, organizer data, or a list of them.").null(),
    arg("password", Text, "Password that protects the event; empty clears it."),
];

/// Parameters of the lists of venues and organizers.
pub const LINKED_LIST: &[Arg] = &[
    PAGE,
    PER_PAGE,
    arg("search", Text, "Text in name, description, excerpt or contact fields."),
    arg("event", Integer, "Those linked to this event."),
    arg("has_events", Boolean, "Those linked to events, or those that are not."),
    arg("only_with_upcoming", Boolean, "Those linked to events to come.")
        .preset(Preset::Flag(false)),
    arg("status", Text, "Comma list of statuses, or any."),
    FIELDS,
];

/// Fields of a venue.
pub const VENUE_WRITE: &[Arg] = &[
    arg("venue", Text, "Name.").required(),
    AUTHOR,
    DATE,
    DATE_UTC,
    DESCRIPTION.null(),
    EXCERPT,
    SLUG,
    STATUS,
    arg("show_map", Boolean, "Whether events linked to the venue show a map.").null(),
    arg("show_map_link", Boolean, "Whether events linked to the venue show a map link.").null(),
    arg("address", Text, "Street and number.").null(),
    arg("city", Text, "City.").null(),
    arg("country", Text, "Country.").null(),
    arg("province", Text, "Province.").null(),
    arg("state", Text, "State.").null(),
    arg("zip", Text, "Postal code.").null(),
    arg("phone", Text, "Phone number.").null(),
    arg("stateprovince", Text, "State or province.").null(),
    arg("website", Text, "Website address.").null(),
    IMAGE.null(),
    arg("geo_lat", Number, "Latitude, -90 to 90."),
    arg("geo_lng", Number, "Longitude, -180 to 180."),
];

/// Fields of an organizer.
pub const ORGANIZER_WRITE: &[Arg] = &[
    arg("organizer", Text, "Name.").required().null(),
    AUTHOR.null(),
    DATE.null(),
    DATE_UTC.null(),
    DESCRIPTION.null(),
    EXCERPT,
    SLUG,
    STATUS.null(),
    arg("phone", Text, "Phone number.").null(),
    arg("website", Text, "Website address.").null(),
    arg("email", Text, "Mail address.").null(),
    IMAGE.null(),
];

const TERM_INCLUDE: Arg = arg("include", Integers, "Only these ids.");
const TERM_EXCLUDE: Arg = arg("exclude", Integers, "Not these ids.");
const TERM_SEARCH: Arg = arg("search", Text, "Text in name or slug.");
const TERM_ORDER: Arg =
    arg("order", Text, "asc, ascending, desc or descending.").preset(Preset::Word("asc"));
const TERM_ORDERBY: Arg = arg(
    "orderby",
    Text,
    "id, include, name, slug, include_slugs, term_group, description, count or parent.",
)
.preset(Preset::Word("name"));
const HIDE_EMPTY: Arg =
    arg("hide_empty", Boolean, "Without those that no event uses.").preset(Preset::Number(1));
const TERM_POST: Arg = arg("post", Integer, "Those of this event.");
const TERM_EVENT: Arg = arg("event", Integer, "Alias of post; wins over it.");
const TERM_SLUG: Arg = arg("slug", Text, "Comma list of slugs; any match.");

/// Parameters of the list of categories.
pub const CATEGORY_LIST: &[Arg] = &[
    PAGE,
    PER_PAGE,
    TERM_SEARCH,
    TERM_EXCLUDE,
    TERM_INCLUDE,
    TERM_ORDER,
    TERM_ORDERBY,
    HIDE_EMPTY,
    arg("parent", Integer, "Direct children of this category; 0 for roots."),
    TERM_POST,
    TERM_EVENT,
    TERM_SLUG,
    FIELDS,
];

/// Parameters of the list of tags.
pub const TAG_LIST: &[Arg] = &[
    PAGE,
    PER_PAGE,
    TERM_SEARCH,
    TERM_EXCLUDE,
    TERM_INCLUDE,
    TERM_ORDER,
    TERM_ORDERBY,
    HIDE_EMPTY,
    TERM_POST,
    TERM_EVENT,
    TERM_SLUG,
    FIELDS,
];

/// Fields of a category.
pub const CATEGORY_WRITE: &[Arg] = &[
    arg("name", Text, "Name.").required(),
    arg("description", Text, "Description."),
    arg("slug", Text, "Slug; made from the name when absent."),
    arg("parent", Integer, "Id of the parent category."),
];

/// Fields of a tag.
pub const TAG_WRITE: &[Arg] = &[
    arg("name", Text, "Name.").required(),
    arg("description", Text, "Description."),
    arg("slug", Text, "Slug; made from the name when absent."),
];

const PASSWORD: Arg = arg("password", Text, "Password of a protected event.");

/// What reading an event takes besides its id.
pub const EVENT_READ: &[Arg] = &[
    PASSWORD,
    arg("context", Text, "edit shows a protected event to those who may edit it.")
        .preset(Preset::Word("view")),
    FIELDS,
];

/// What deleting an event takes besides its id.
pub const EVENT_DELETE: &[Arg] = &[PASSWORD, FIELDS];

/// What reading and deleting anything else takes besides its id.
pub const ITEM_KEY: &[Arg] = &[FIELDS];

const ID: Arg = arg("id", Integer, "Id.").required();
const SLUG_KEY: Arg = arg("slug", Text, "Slug.").required();
const SLUG_OPTIONAL: Arg = arg("slug", Text, "Slug.");

/// Methods with the parameters that they take.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    pub methods: &'static [&'static str],
    /// The parameter in the path, if any.
    pub key: Option<Arg>,
    pub args: &'static [Arg],
    /// Whether nothing but the key is required, as in updates.
    pub partial: bool,
}

/// A route with its pattern as the index shows it.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub pattern: &'static str,
    pub endpoints: &'static [Endpoint],
}

const fn read(key: Option<Arg>, args: &'static [Arg]) -> Endpoint {
    Endpoint { methods: &["GET"], key, args, partial: false }
}

const fn create(args: &'static [Arg]) -> Endpoint {
    Endpoint { methods: &["POST"], key: None, args, partial: false }
}

const fn update(key: Arg, args: &'static [Arg]) -> Endpoint {
    Endpoint { methods: &["POST", "PUT", "PATCH"], key: Some(key), args, partial: true }
}

const fn delete(key: Arg, args: &'static [Arg]) -> Endpoint {
    Endpoint { methods: &["DELETE"], key: Some(key), args, partial: false }
}

macro_rules! item {
    ($pattern:literal, $key:expr, $read:expr, $fields:expr, $delete:expr) => {
        Route {
            pattern: $pattern,
            endpoints: &[read(Some($key), $read), update($key, $fields), delete($key, $delete)],
        }
    };
}

/// Every route in the order of the documentation.
pub const ROUTES: &[Route] = &[
    Route { pattern: "", endpoints: &[read(None, INDEX)] },
    Route { pattern: "/doc", endpoints: &[read(None, &[])] },
    Route { pattern: "/events", endpoints: &[read(None, EVENT_LIST), create(EVENT_WRITE)] },
    item!(r"/events/(?P<id>\d+)", ID, EVENT_READ, EVENT_WRITE, EVENT_DELETE),
    item!("/events/by-slug/(?P<slug>[^/]+)", SLUG_OPTIONAL, EVENT_READ, EVENT_WRITE, EVENT_DELETE),
    Route { pattern: "/venues", endpoints: &[read(None, LINKED_LIST), create(VENUE_WRITE)] },
    item!(r"/venues/(?P<id>\d+)", ID, ITEM_KEY, VENUE_WRITE, ITEM_KEY),
    item!("/venues/by-slug/(?P<slug>[^/]+)", SLUG_KEY, ITEM_KEY, VENUE_WRITE, ITEM_KEY),
    Route {
        pattern: "/organizers",
        endpoints: &[read(None, LINKED_LIST), create(ORGANIZER_WRITE)],
    },
    item!(r"/organizers/(?P<id>\d+)", ID, ITEM_KEY, ORGANIZER_WRITE, ITEM_KEY),
    item!("/organizers/by-slug/(?P<slug>[^/]+)", SLUG_KEY, ITEM_KEY, ORGANIZER_WRITE, ITEM_KEY),
    Route {
        pattern: "/categories",
        endpoints: &[read(None, CATEGORY_LIST), create(CATEGORY_WRITE)],
    },
    item!(r"/categories/(?P<id>\d+)", ID, ITEM_KEY, CATEGORY_WRITE, ITEM_KEY),
    Route { pattern: "/tags", endpoints: &[read(None, TAG_LIST), create(TAG_WRITE)] },
    item!(r"/tags/(?P<id>\d+)", ID, ITEM_KEY, TAG_WRITE, ITEM_KEY),
];

/// Finds the route of a path below the namespace.
pub fn route_of(path: &str) -> Option<&'static Route> {
    let path = path.trim_end_matches('/');
    ROUTES.iter().find(|route| fits(route.pattern, path))
}

fn fits(pattern: &str, path: &str) -> bool {
    if let Some(prefix) = pattern.strip_suffix(r"(?P<id>\d+)") {
        let id = path.strip_prefix(prefix);
        return id.is_some_and(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()));
    }
    if let Some(prefix) = pattern.strip_suffix("(?P<slug>[^/]+)") {
        let slug = path.strip_prefix(prefix);
        return slug.is_some_and(|slug| !slug.is_empty() && !slug.contains('/'));
    }
    pattern == path
}
