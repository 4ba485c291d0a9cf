//! The OpenAPI document, except for its operations.

use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ComponentsBuilder, ContentBuilder, HeaderBuilder, InfoBuilder, KnownFormat, Object,
    ObjectBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Schema, SchemaFormat, Type,
};

use crate::error::Problem;
use crate::wire::WORKBOOK;

/// Headers of responses that count towards the caller's rate limit.
const RATE_HEADERS: [(&str, &str); 3] = [
    ("RateLimit-Limit", "Maximum number of requests at once; absent if requests are not limited"),
    ("RateLimit-Remaining", "Number of remaining requests"),
    ("RateLimit-Reset", "Seconds until the full limit is available again"),
];

/// Returns the document without any paths.
pub fn document() -> OpenApi {
    let tags = ["Card", "Finance", "Misc", "Name", "Phone", "SocialNumber", "Text"];
    let key = ApiKey::Header(ApiKeyValue::with_description(
        "X-Api-Key",
        "Optional, unless this server requires a key. Each key has its own, higher limits.",
    ));
    let components =
        ComponentsBuilder::new().security_scheme("ApiKey", SecurityScheme::ApiKey(key));
    let components = components.schema_from::<Problem>();
    let components = RATE_HEADERS.into_iter().fold(components, |components, (name, text)| {
        let schema = Some(Object::with_type(Type::Integer));
        let header = HeaderBuilder::new().schema(schema).description(Some(text));
        components.header(name, header.build())
    });
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Test-data generator")
                .version("v1")
                .description(Some(
                    "Generates and checks synthetic test data. All values are random but have the \
                     formats and ranges of real data, so a telephone number, a device, an account or a \
                     national number **may exist**: do not call it, write to it, pay it or use it in \
                     any application. Crypto addresses do not have a private key: funds sent to them \
                     are lost. Use `fictional=true` for telephone numbers that are never in use.",
                ))
                .build(),
        )
        .tags(Some(tags.map(|name| TagBuilder::new().name(name).build())))
        .components(Some(components.build()))
        .security(Some([
            SecurityRequirement::default(),
            SecurityRequirement::new("ApiKey", Vec::<String>::new()),
        ]))
        .build()
}

/// Schemas of request bodies in which unknown members are rejected.
const BODIES: [&str; 2] = ["TextDto", "NumberValidation"];

/// Adds everything that can be derived from the parameters and responses of an operation: headers,
/// media types, and the rejection of unknown members in bodies.
pub fn amend(document: &mut OpenApi) {
    for schema in document.components.iter_mut().flat_map(|all| all.schemas.iter_mut()) {
        if let (true, RefOr::T(Schema::Object(body))) = (BODIES.contains(&&**schema.0), schema.1) {
            body.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
    let items = document.paths.paths.values_mut();
    for operation in items
        .flat_map(|item| [&mut item.get, &mut item.post, &mut item.put, &mut item.delete])
        .flatten()
    {
        let mut parameters = operation.parameters.iter().flatten();
        if parameters.any(|it| matches!(it, RefOr::T(parameter) if parameter.name == "seed")) {
            add_headers(operation, SEED_HEADERS);
        }
        add_list_formats(operation, document.components.as_ref());
        mark_files(operation);
        if operation.responses.responses.contains_key("304") {
            add_headers(operation, LIST_HEADERS);
        }
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            let text = "`text/json` and `application/*+json` are also accepted.";
            body.description = Some(text.to_owned());
        }
        // Operations that don't take a key aren't rate-limited.
        if operation.security.is_none() {
            add_rate_headers(operation);
        }
    }
}

/// Headers of responses that were generated from a seed.
const SEED_HEADERS: [(&str, &str); 2] = [
    ("X-Seed", "Seed of this response. Send it as `seed` to get the same response again"),
    ("X-Data-Version", "Version of the algorithms and data"),
];

/// Headers of lists that clients may cache.
const LIST_HEADERS: [(&str, &str); 2] = [
    ("ETag", "Version of the list; changes whenever the list changes"),
    ("Cache-Control", "Cacheable for one hour; `private` if the server requires a key"),
];

/// Media types of lists, in addition to JSON.
const LIST_FORMATS: [&str; 3] = ["text/csv", "application/x-ndjson", WORKBOOK];

/// Media types of binary files.
const FILES: [&str; 2] = ["application/zip", WORKBOOK];

/// Marks binary bodies as such.
fn mark_files(operation: &mut Operation) {
    let Some(RefOr::T(response)) = operation.responses.responses.get_mut("200") else { return };
    for kind in FILES {
        if let Some(RefOr::T(content)) = response.content.get_mut(kind) {
            let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
            let bytes = ObjectBuilder::new().schema_type(Type::String).format(Some(format));
            content.schema = Some(bytes.into());
        }
    }
}

/// Adds the other list formats to operations that return a list, either always or if `quantity` is
/// given.
fn add_list_formats(operation: &mut Operation, components: Option<&Components>) {
    let Some(RefOr::T(response)) = operation.responses.responses.get_mut("200") else { return };
    let Some(RefOr::T(json)) = response.content.get("application/json") else { return };
    let is_list = match &json.schema {
        Some(RefOr::T(schema)) => matches!(schema, Schema::Array(_)),
        Some(RefOr::Ref(reference)) => components.is_some_and(|components| {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            matches!(components.schemas.get(name), Some(RefOr::T(Schema::OneOf(_))))
        }),
        None => false,
    };
    if is_list {
        for format in LIST_FORMATS {
            let text = ContentBuilder::new().schema(Some(Object::with_type(Type::String)));
            response.content.insert(format.to_owned(), RefOr::T(text.build()));
        }
    }
}

/// Adds headers to the 200 response of an operation.
fn add_headers(operation: &mut Operation, headers: [(&str, &str); 2]) {
    let Some(RefOr::T(response)) = operation.responses.responses.get_mut("200") else { return };
    for (name, text) in headers {
        let header = HeaderBuilder::new().schema(Some(Object::with_type(Type::String)));
        let header = header.description(Some(text)).build();
        response.headers.insert(name.to_owned(), RefOr::T(header));
    }
}

/// Adds the rate limit headers to all of an operation's responses.
fn add_rate_headers(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        let RefOr::T(response) = response else { continue };
        let shared = RATE_HEADERS.map(|(name, _)| {
            let reference = format!("#/components/headers/{name}");
            (name.to_owned(), RefOr::Ref(Ref::new(reference)))
        });
        response.headers.extend(shared);
    }
}
