//! Every route of the interface with its methods and parameters, for the index and OPTIONS.

use utoipa::openapi::path::Parameter;

use crate::wire::parameters::{
    CategoryFields, CategoryListParameters, Declared, EventDeleteParameters, EventFields,
    EventListParameters, EventReadParameters, IndexParameters, ItemParameters,
    LinkedListParameters, OrganizerFields, TagFields, TagListParameters, VenueFields,
};

/// The declared parameters of an operation.
pub type Parameters = fn() -> &'static [Parameter];

fn none() -> &'static [Parameter] {
    &[]
}

/// The parameter in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Id,
    Slug,
    /// As the modelled interface declares the slug of events in updates, where it is the new one.
    OptionalSlug,
}

impl Key {
    /// Returns the key of reads and deletes, which have nothing but the path to name the item.
    const fn required(self) -> Key {
        match self {
            Key::Id => Key::Id,
            Key::Slug | Key::OptionalSlug => Key::Slug,
        }
    }
}

/// Methods with the parameters that they take.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    pub methods: &'static [&'static str],
    /// The parameter in the path, if any.
    pub key: Option<Key>,
    pub parameters: Parameters,
    /// Whether nothing but the key is required, as in updates.
    pub partial: bool,
}

/// A route with its pattern as the index shows it.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub pattern: &'static str,
    pub endpoints: &'static [Endpoint],
}

const fn read(key: Option<Key>, parameters: Parameters) -> Endpoint {
    Endpoint { methods: &["GET"], key, parameters, partial: false }
}

const fn create(parameters: Parameters) -> Endpoint {
    Endpoint { methods: &["POST"], key: None, parameters, partial: false }
}

const fn update(key: Key, parameters: Parameters) -> Endpoint {
    Endpoint { methods: &["POST", "PUT", "PATCH"], key: Some(key), parameters, partial: true }
}

const fn delete(key: Key, parameters: Parameters) -> Endpoint {
    Endpoint { methods: &["DELETE"], key: Some(key), parameters, partial: false }
}

macro_rules! item {
    ($pattern:literal, $key:expr, $read:expr, $fields:expr, $delete:expr) => {
        Route {
            pattern: $pattern,
            endpoints: &[
                read(Some($key.required()), $read),
                update($key, $fields),
                delete($key.required(), $delete),
            ],
        }
    };
}

/// Every route in the order of the documentation.
pub const ROUTES: &[Route] = &[
    Route { pattern: "", endpoints: &[read(None, IndexParameters::parameters)] },
    Route { pattern: "/doc", endpoints: &[read(None, none)] },
    Route {
        pattern: "/events",
        endpoints: &[read(None, EventListParameters::parameters), create(EventFields::parameters)],
    },
    item!(
        r"/events/(?P<id>\d+)",
        Key::Id,
        EventReadParameters::parameters,
        EventFields::parameters,
        EventDeleteParameters::parameters
    ),
    item!(
        "/events/by-slug/(?P<slug>[^/]+)",
        Key::OptionalSlug,
        EventReadParameters::parameters,
        EventFields::parameters,
        EventDeleteParameters::parameters
    ),
    Route {
        pattern: "/venues",
        endpoints: &[read(None, LinkedListParameters::parameters), create(VenueFields::parameters)],
    },
    item!(
        r"/venues/(?P<id>\d+)",
        Key::Id,
        ItemParameters::parameters,
        VenueFields::parameters,
        ItemParameters::parameters
    ),
    item!(
        "/venues/by-slug/(?P<slug>[^/]+)",
        Key::Slug,
        ItemParameters::parameters,
        VenueFields::parameters,
        ItemParameters::parameters
    ),
    Route {
        pattern: "/organizers",
        endpoints: &[
            read(None, LinkedListParameters::parameters),
            create(OrganizerFields::parameters),
        ],
    },
    item!(
        r"/organizers/(?P<id>\d+)",
        Key::Id,
        ItemParameters::parameters,
        OrganizerFields::parameters,
        ItemParameters::parameters
    ),
    item!(
        "/organizers/by-slug/(?P<slug>[^/]+)",
        Key::Slug,
        ItemParameters::parameters,
        OrganizerFields::parameters,
        ItemParameters::parameters
    ),
    Route {
        pattern: "/categories",
        endpoints: &[
            read(None, CategoryListParameters::parameters),
            create(CategoryFields::parameters),
        ],
    },
    item!(
        r"/categories/(?P<id>\d+)",
        Key::Id,
        ItemParameters::parameters,
        CategoryFields::parameters,
        ItemParameters::parameters
    ),
    Route {
        pattern: "/tags",
        endpoints: &[read(None, TagListParameters::parameters), create(TagFields::parameters)],
    },
    item!(
        r"/tags/(?P<id>\d+)",
        Key::Id,
        ItemParameters::parameters,
        TagFields::parameters,
        ItemParameters::parameters
    ),
    Route { pattern: "/ical", endpoints: &[read(None, EventListParameters::parameters)] },
    Route { pattern: "/import/ical", endpoints: &[create(none)] },
    Route { pattern: "/images", endpoints: &[create(none)] },
    Route { pattern: r"/images/(?P<id>\d+)", endpoints: &[read(Some(Key::Id), none)] },
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
