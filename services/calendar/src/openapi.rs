//! The OpenAPI document, without its paths.

use serde_json::{Map, Value};
use shell::ServiceInfo;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, RefOr};

use crate::model::urls::NAMESPACE;
use crate::wire::description::{Takes, publish_query};
use crate::wire::error_body::{ErrorData, ErrorJson};
use crate::wire::image::ImageSize;
use crate::wire::parameters::{
    CategoryFields, CategoryListParameters, Declared, EventDeleteParameters, EventFields,
    EventListParameters, EventReadParameters, FeedParameters, IndexParameters, ItemParameters,
    LinkedDeleteParameters, LinkedListParameters, OrganizerFields, ReleaseFields,
    SubscribedEventParameters, SubscriptionDeleteParameters, SubscriptionFields, TagFields,
    TagListParameters, VenueFields,
};

// These are declared here so that the API index can include them.
pub const INDEX: Takes = Takes::new(IndexParameters::parameters);
pub const EVENT_LIST: Takes = Takes::new(EventListParameters::parameters);
pub const FEED: Takes = Takes::new(FeedParameters::parameters);
pub const EVENT_READ: Takes = Takes::new(EventReadParameters::parameters);
pub const EVENT_DELETE: Takes = Takes::new(EventDeleteParameters::parameters);
pub const EVENT_FIELDS: Takes = Takes::new(EventFields::parameters);
pub const LINKED_DELETE: Takes = Takes::new(LinkedDeleteParameters::parameters);
pub const LINKED_LIST: Takes = Takes::new(LinkedListParameters::parameters);
pub const VENUE_FIELDS: Takes = Takes::new(VenueFields::parameters);
pub const ORGANIZER_FIELDS: Takes = Takes::new(OrganizerFields::parameters);
pub const CATEGORY_LIST: Takes = Takes::new(CategoryListParameters::parameters);
pub const CATEGORY_FIELDS: Takes = Takes::new(CategoryFields::parameters);
pub const TAG_LIST: Takes = Takes::new(TagListParameters::parameters);
pub const TAG_FIELDS: Takes = Takes::new(TagFields::parameters);
pub const SUBSCRIPTION_FIELDS: Takes = Takes::new(SubscriptionFields::parameters);
pub const SUBSCRIPTION_DELETE: Takes = Takes::new(SubscriptionDeleteParameters::parameters);
pub const SUBSCRIBED_EVENTS: Takes = Takes::new(SubscribedEventParameters::parameters);
pub const RELEASE_FIELDS: Takes = Takes::new(ReleaseFields::parameters);
pub const ITEM: Takes = Takes::new(ItemParameters::parameters);

/// Builds the document without its paths.
pub fn document(info: &ServiceInfo) -> OpenApi {
    let key = ApiKey::Header(ApiKeyValue::new("X-API-Key"));
    let components = ComponentsBuilder::new()
        .security_scheme("key", SecurityScheme::ApiKey(key))
        .security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme("basic", SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)))
        .schema_from::<ImageSize>()
        .schema_from::<ErrorJson>()
        .schema_from::<ErrorData>()
        .build();
    let about = format!(
        "{}. Operations and fields marked \"Extension\" are not part of the API of The Events \
         Calendar.",
        info.about
    );
    let info =
        InfoBuilder::new().title(info.title).version("1.0.0").description(Some(about)).build();
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}

/// The parameter that selects which keys a response contains.
const FIELDS: &str = "_fields";

/// Paths that don't support `_fields`: the index, the document and feeds.
const WITHOUT_FIELDS: [&str; 3] = ["", "/doc", "/ical"];

/// Completes the declared query parameters, and marks credentials and bodies that are optional.
pub fn amend(document: &mut OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let changes_an_item = path.contains('{');
        let operations =
            [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            operation.security.get_or_insert_with(optional_credentials);
            let is_selectable = path
                .strip_prefix(&format!("/{NAMESPACE}"))
                .is_some_and(|below| !WITHOUT_FIELDS.contains(&below));
            let parameters = operation.parameters.get_or_insert_default();
            let is_fields = |one: &RefOr<Parameter>| match one {
                RefOr::T(parameter) => parameter.name == FIELDS,
                RefOr::Ref(_) => false,
            };
            if is_selectable && !parameters.iter().any(is_fields) {
                let fields = ItemParameters::parameters().iter().find(|one| one.name == FIELDS);
                parameters.extend(fields.cloned().map(RefOr::T));
            }
            if let Some(RefOr::T(body)) =
                operation.request_body.as_mut().filter(|_| changes_an_item)
            {
                // An update can be empty, in which case it doesn't change anything.
                body.required = None;
            }
            for parameter in operation.parameters.iter_mut().flatten() {
                if let RefOr::T(parameter) = parameter {
                    publish_query(parameter);
                }
            }
        }
    }
}

/// Returns the security requirements for an operation that works without credentials but can show
/// more with them.
fn optional_credentials() -> Vec<SecurityRequirement> {
    let schemes = ["key", "bearer", "basic"];
    let schemes = schemes.map(|scheme| SecurityRequirement::new(scheme, Vec::<String>::new()));
    std::iter::once(SecurityRequirement::default()).chain(schemes).collect()
}

/// Returns a copy of the document with the namespace in the server URL instead of the paths.
pub fn below_namespace(document: &OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    let prefix = format!("/{NAMESPACE}");
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        let moved: Map<String, Value> = std::mem::take(paths)
            .into_iter()
            .map(|(path, item)| {
                let below = path.strip_prefix(&prefix).unwrap_or(&path);
                (if below.is_empty() { "/".to_owned() } else { below.to_owned() }, item)
            })
            .collect();
        *paths = moved;
    }
    document
}
