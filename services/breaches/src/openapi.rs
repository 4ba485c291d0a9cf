//! The OpenAPI document apart from the operations: info, tags, security, shared errors and headers.

use std::collections::BTreeMap;

use actix_web::ResponseError;
use serde_json::{Value, json};
use utoipa::OpenApi as _;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, ObjectBuilder, OpenApi, Ref, RefOr, Response, Type,
};

use crate::error::Error;
use crate::wire::ErrorBody;

/// Builds the document without its paths.
pub fn document() -> OpenApi {
    #[derive(utoipa::OpenApi)]
    #[openapi(
        info(
            title = "Breach lookup service",
            version = "3",
            description = "Find the data breaches and pastes that contain an email address. Subscribers who have verified a domain can also find the breached addresses at that domain.\n\nEvery request must have a `user-agent` header. Operations that require an API key expect it in the `breach-api-key` header, as 32 hexadecimal characters. Any well-formed unknown key is a test key, which can only access the test accounts. Paths and the names of query parameters are case-insensitive.\n\n**Attribution.** If you display breach or paste data, you must visibly name this service as the source and link to it. Responses contain the link in a `link` header with `rel=\"license\"`."
        ),
        tags(
            (name = "Accounts", description = "Search breaches and pastes by email address."),
            (name = "Domain verification", description = "Prove control of a domain."),
            (name = "Domains", description = "Search verified domains."),
            (name = "Catalogue", description = "List breaches and data classes, without a key."),
            (name = "Stealer logs", description = "Search addresses and websites captured by malware."),
            (name = "Subscription", description = "Get the subscription of the API key.")
        ),
        components(schemas(ErrorBody))
    )]
    struct Document;

    let mut document = Document::openapi();
    let key = ApiKeyValue::with_description(
        "breach-api-key",
        "API key: 32 hexadecimal characters, in upper or lower case. The operator can configure additional header names.",
    );
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("key", SecurityScheme::ApiKey(ApiKey::Header(key)));
    document
}

/// Extension that lists the failures an operation can return. It isn't part of the published
/// document.
const DECLARED: &str = "x-failures";

/// The operations that document a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Every,
    /// Operations that need an API key.
    Keyed,
    /// Operations that list it in `x-failures`.
    Declared,
}

/// A kind of failure, with a sample message.
struct Row {
    name: &'static str,
    /// When it happens.
    when: &'static str,
    error: Error,
    scope: Scope,
}

impl Row {
    fn applies(&self, keyed: bool, declared: &[String]) -> bool {
        match self.scope {
            Scope::Every => true,
            Scope::Keyed => keyed,
            Scope::Declared => declared.iter().any(|name| name == self.name),
        }
    }
}

/// Returns all API failures. Strings and numbers in their messages are samples. Domain verification
/// operations document their own failures.
fn failures() -> Vec<Row> {
    let key = || "breach-api-key".to_owned();
    let row = |name, when, error, scope| Row { name, when, error, scope };
    vec![
        row("email", "the address is invalid", Error::Email, Scope::Declared),
        row("prefix", "the prefix is invalid", Error::Prefix, Scope::Declared),
        row("prefixes", "the body is invalid", Error::Prefixes, Scope::Declared),
        row(
            "tooManyPrefixes",
            "the request contains more prefixes than the plan's full quota covers",
            Error::TooManyPrefixes(50),
            Scope::Declared,
        ),
        row("emails", "the body is invalid", Error::Emails, Scope::Declared),
        row(
            "tooManyEmails",
            "the request contains more addresses than the plan's full quota covers",
            Error::TooManyEmails(500),
            Scope::Declared,
        ),
        row("bodyTooLarge", "the body is too large", Error::BodyTooLarge(512), Scope::Declared),
        row("domain", "the domain is invalid", Error::Domain, Scope::Declared),
        row(
            "truncateResponse",
            "`truncateResponse` is not a boolean",
            Error::Boolean("truncateResponse".into()),
            Scope::Declared,
        ),
        row(
            "includeUnverified",
            "`IncludeUnverified` is not a boolean",
            Error::Boolean("IncludeUnverified".into()),
            Scope::Declared,
        ),
        row(
            "isSpamList",
            "`IsSpamList` is not a boolean",
            Error::Boolean("IsSpamList".into()),
            Scope::Declared,
        ),
        row("since", "`since` is missing or invalid", Error::Since, Scope::Declared),
        row("unreadable", "the query is not UTF-8", Error::Unreadable, Scope::Declared),
        row("keyMissing", "the key is missing", Error::KeyMissing(key()), Scope::Keyed),
        row(
            "keyMalformed",
            "the key is not 32 hexadecimal characters",
            Error::KeyMalformed(key()),
            Scope::Keyed,
        ),
        row(
            "keyInvalid",
            "the key is unknown, revoked, expired, or a test key used outside the test accounts",
            Error::KeyInvalid(key()),
            Scope::Keyed,
        ),
        row(
            "userAgentMissing",
            "the `user-agent` header is missing",
            Error::UserAgent,
            Scope::Every,
        ),
        row("notInPlan", "the plan does not include the operation", Error::NotInPlan, Scope::Keyed),
        row(
            "subscriptionEnded",
            "the subscription has ended",
            Error::Ended("2027-03-01".into()),
            Scope::Declared,
        ),
        row(
            "domainNotVerified",
            "the caller has not verified the domain",
            Error::NotVerified,
            Scope::Declared,
        ),
        row(
            "domainTooLarge",
            "the plan does not cover the size of the domain",
            Error::DomainTooLarge { size: 26, max: 25 },
            Scope::Declared,
        ),
        row(
            "tooManyDomains",
            "the subscription uses more large domains than the plan covers",
            Error::TooManyDomains { max: 1, used: 2 },
            Scope::Declared,
        ),
        row(
            "methodNotAllowed",
            "the path does not support the method",
            Error::MethodNotAllowed(String::new()),
            Scope::Every,
        ),
        row("rateLimit", "the rate limit is exceeded", Error::TooMany(6), Scope::Every),
        row("internal", "an internal error occurred", Error::Internal(String::new()), Scope::Every),
        row(
            "unavailable",
            "the database is unavailable or overloaded",
            Error::Unavailable,
            Scope::Keyed,
        ),
        row("blocked", "the operator has blocked the client", Error::Blocked, Scope::Every),
    ]
}

/// Removes `x-failures` from an operation and returns its contents.
fn take_declared(operation: &mut Operation) -> Vec<String> {
    let Some(extensions) = &mut operation.extensions else { return Vec::new() };
    let names = extensions.remove(DECLARED);
    if extensions.is_empty() {
        operation.extensions = None;
    }
    names.and_then(|names| serde_json::from_value(names).ok()).unwrap_or_default()
}

/// Returns the headers sent by more than one operation, each with its component name, description
/// and example.
fn headers() -> [(&'static str, &'static str, Value); 8] {
    [
        (
            "access-control-allow-origin",
            "Web pages from any origin may read the response.",
            json!("*"),
        ),
        ("allow", "Methods that the path supports.", json!("GET, HEAD")),
        ("cache-control.private", "The response must not be cached.", json!("private, no-store")),
        ("cache-control.public", "Any cache may store the response.", json!("public, max-age=300")),
        (
            "etag",
            "Version of the catalogue, for use in `if-none-match`.",
            json!("\"5-1772366400\""),
        ),
        (
            "last-modified",
            "When the catalogue was last changed, for use in `if-modified-since`.",
            json!("Sun, 01 Mar 2026 12:00:00 GMT"),
        ),
        (
            "link",
            "Link to use for attribution.",
            json!("<https://breaches.example>; rel=\"license\""),
        ),
        ("retry-after", "Number of seconds to wait before retrying.", json!(6)),
    ]
}

/// Returns the names of the header components for a response.
fn headers_of(keyed: bool, status: &str) -> Vec<&'static str> {
    let mut names = match keyed {
        true => vec!["cache-control.private"],
        false => vec!["access-control-allow-origin"],
    };
    if !keyed && matches!(status, "200" | "304") {
        names.extend(["cache-control.public", "etag", "last-modified"]);
    }
    match status {
        "200" => names.push("link"),
        "405" => names.push("allow"),
        "429" => names.push("retry-after"),
        // Keyless operations return 503 only to blocked clients, without `retry-after`.
        "503" if keyed => names.push("retry-after"),
        _ => {}
    }
    names
}

/// Adds the errors to every operation and the headers to every response, keeping existing
/// descriptions.
pub fn complete(document: &mut OpenApi) {
    describe(document.components.get_or_insert_default());
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post];
        for operation in operations.into_iter().flatten() {
            let keyed = operation.security.is_some();
            // Operations with a body list their own 413.
            operation.responses.responses.remove("413");
            add_failures(operation, keyed);
            add_headers(operation, keyed);
        }
    }
}

fn describe(components: &mut Components) {
    for Row { name, when, error, .. } in failures() {
        let body = serde_json::to_value(error.body()).ok();
        let example = ExampleBuilder::new().summary(sentence(when)).value(body).build();
        components.examples.insert(name.to_owned(), example.into());
    }
    for (name, description, sample) in headers() {
        let kind = if sample.is_number() { Type::Integer } else { Type::String };
        let header = HeaderBuilder::new()
            .schema(Some(ObjectBuilder::new().schema_type(kind).build()))
            .description(Some(description))
            .example(Some(sample))
            .build();
        components.headers.insert(name.to_owned(), header.into());
    }
}

fn add_failures(operation: &mut Operation, keyed: bool) {
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let declared = take_declared(operation);
    for row in failures().into_iter().filter(|row| row.applies(keyed, &declared)) {
        rows.entry(row.error.status_code().as_str().to_owned()).or_default().push(row);
    }
    for (status, rows) in rows {
        let responses = &mut operation.responses.responses;
        let response = responses.entry(status).or_insert_with(|| Response::new("").into());
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            let cases: Vec<_> = rows.iter().map(|row| row.when).collect();
            response.description = format!("{}.", sentence(&cases.join("; ")));
        }
        let reference = |name| Ref::new(format!("#/components/examples/{name}"));
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("ErrorBody")))
            .examples_from_iter(rows.iter().map(|row| (row.name, RefOr::Ref(reference(row.name)))))
            .build();
        response.content.insert("application/json".to_owned(), content.into());
    }
}

fn add_headers(operation: &mut Operation, keyed: bool) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        for component in headers_of(keyed, status) {
            let name = component.split('.').next().unwrap_or(component);
            let reference = Ref::new(format!("#/components/headers/{component}"));
            response.headers.insert(name.to_owned(), RefOr::Ref(reference));
        }
    }
}

/// Capitalizes the first letter.
fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
