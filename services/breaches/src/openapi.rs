//! The document around the operations: info, tags, security, the errors that operations share, as the
//! error table gives them, and headers.

use std::collections::BTreeMap;

use actix_web::ResponseError;
use serde_json::{Value, json};
use utoipa::OpenApi as _;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, ObjectBuilder, OpenApi, Ref, RefOr, Response, Type,
};

use crate::error::Error;
use crate::wire::ErrorBody;

/// The document without its paths.
pub fn document() -> OpenApi {
    #[derive(utoipa::OpenApi)]
    #[openapi(
        info(
            title = "Breach lookup service",
            version = "3",
            description = "Tells in which data breaches and pastes an address appears, and, to those who verified a domain, which of its addresses appear.\n\nEvery request needs a `user-agent`. Keyed operations need the header `breach-api-key`: 32 hexadecimal characters. Any such value that is not on file is a test key and gives access to the test accounts only. Paths are case-insensitive, and so are the names of query parameters.\n\n**Attribution.** Whoever shows breach or paste data must name this service as their source, visibly and with a link; answers carry the link as `rel=\"license\"`."
        ),
        tags(
            (name = "Accounts", description = "Searches by address"),
            (name = "Domain verification", description = "Proofs of control of a domain"),
            (name = "Domains", description = "Searches by those who verified a domain"),
            (name = "Catalogue", description = "Breaches and data classes; no key needed"),
            (name = "Stealer logs", description = "Websites at which addresses were captured"),
            (name = "Subscription", description = "What the key's subscription covers")
        ),
        components(schemas(ErrorBody))
    )]
    struct Document;

    let mut document = Document::openapi();
    let key = ApiKeyValue::with_description(
        "breach-api-key",
        "32 hexadecimal characters, any case; the operator may configure further header names",
    );
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("key", SecurityScheme::ApiKey(ApiKey::Header(key)));
    document
}

/// A failure as an example: its name, when it happens, and the failure.
type Row = (&'static str, &'static str, Error);

/// The failures of the API; texts and numbers in their messages are samples.
fn failures() -> Vec<Row> {
    let key = || "breach-api-key".to_owned();
    vec![
        ("email", "the address breaks a rule", Error::Email),
        ("prefix", "the prefix breaks a rule", Error::Prefix),
        ("prefixes", "the body breaks a rule", Error::Prefixes),
        (
            "tooManyPrefixes",
            "more prefixes than the quota ever pays for",
            Error::TooManyPrefixes(50),
        ),
        ("domain", "the domain breaks a rule", Error::Domain),
        (
            "truncateResponse",
            "`truncateResponse` is no boolean",
            Error::Boolean("truncateResponse".into()),
        ),
        (
            "includeUnverified",
            "`IncludeUnverified` is no boolean",
            Error::Boolean("IncludeUnverified".into()),
        ),
        ("isSpamList", "`IsSpamList` is no boolean", Error::Boolean("IsSpamList".into())),
        ("unreadable", "the query is not UTF-8", Error::Unreadable),
        ("keyMissing", "no key", Error::KeyMissing(key())),
        ("keyMalformed", "not 32 hexadecimal characters", Error::KeyMalformed(key())),
        (
            "keyInvalid",
            "an unknown, revoked or expired key, or a test key beyond the test accounts",
            Error::KeyInvalid(key()),
        ),
        ("userAgentMissing", "no user agent", Error::UserAgent),
        ("notInPlan", "the plan does not include the operation", Error::NotInPlan),
        ("subscriptionEnded", "the subscription is over", Error::Ended("2027-03-01".into())),
        ("domainNotVerified", "the caller has not verified the domain", Error::NotVerified),
        (
            "domainTooLarge",
            "the plan does not cover the size of the domain",
            Error::DomainTooLarge { size: 26, max: 25 },
        ),
        (
            "tooManyDomains",
            "the plan does not cover so many larger domains",
            Error::TooManyDomains { max: 1, used: 2 },
        ),
        (
            "methodNotAllowed",
            "a method that the path does not have",
            Error::MethodNotAllowed(String::new()),
        ),
        ("rateLimit", "too many requests", Error::TooMany(6)),
        ("internal", "an unforeseen failure", Error::Internal(String::new())),
        ("unavailable", "the database is away or overloaded", Error::Unavailable),
        ("blocked", "the operator blocks the client", Error::Blocked),
    ]
}

/// Whether an operation can fail with an error.
fn can_fail(operation: &Operation, keyed: bool, error: &Error) -> bool {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    match error {
        Error::UserAgent
        | Error::MethodNotAllowed(_)
        | Error::TooMany(_)
        | Error::Internal(_)
        | Error::Blocked => true,
        Error::KeyMissing(_)
        | Error::KeyMalformed(_)
        | Error::KeyInvalid(_)
        | Error::NotInPlan
        | Error::Unavailable => keyed,
        Error::Ended(_) => keyed && id != "subscriptionStatus",
        Error::Email => has_parameter(operation, "email"),
        Error::Prefix => has_parameter(operation, "prefix"),
        Error::Prefixes | Error::TooManyPrefixes(_) => id == "breachedAccountRanges",
        Error::Domain => has_parameter(operation, "domain"),
        Error::Boolean(name) => has_parameter(operation, name),
        Error::Unreadable => {
            parameters(operation).any(|parameter| parameter.parameter_in == ParameterIn::Query)
        }
        Error::NotVerified => has_parameter(operation, "domain") || id == "stealerLogsByEmail",
        Error::DomainTooLarge { .. } | Error::TooManyDomains { .. } => id == "breachedDomain",
        // The operations that verify domains document their own.
        Error::Verification(_) | Error::CrossOrigin | Error::NotFound => false,
    }
}

fn parameters(operation: &Operation) -> impl Iterator<Item = &Parameter> {
    let all = operation.parameters.iter().flatten();
    all.filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    })
}

fn has_parameter(operation: &Operation, name: &str) -> bool {
    parameters(operation).any(|parameter| parameter.name == name)
}

/// Headers that more than one operation sends: a name among the components, what they say, a sample.
fn headers() -> [(&'static str, &'static str, Value); 8] {
    [
        ("access-control-allow-origin", "Pages of any origin may read the answer", json!("*")),
        ("allow", "Methods that the path has", json!("GET, HEAD")),
        ("cache-control.private", "Nobody may keep the answer", json!("private, no-store")),
        ("cache-control.public", "Anybody may keep the answer", json!("public, max-age=300")),
        ("etag", "Version of the catalogue, for `if-none-match`", json!("\"5-1772366400\"")),
        (
            "last-modified",
            "When the catalogue changed last, for `if-modified-since`",
            json!("Sun, 01 Mar 2026 12:00:00 GMT"),
        ),
        (
            "link",
            "Where to point the link that attribution asks for",
            json!("<https://breaches.example>; rel=\"license\""),
        ),
        ("retry-after", "Seconds after which a new try makes sense", json!(6)),
    ]
}

/// The headers of an answer by their names among the components.
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
        // A blocked client gets no `retry-after`, and without a key there is no other 503.
        "503" if keyed => names.push("retry-after"),
        _ => {}
    }
    names
}

/// Completes the document: every operation gets its failures with their messages, every answer its
/// headers. A description that an operation gives to a status stays.
pub fn complete(document: &mut OpenApi) {
    describe(document.components.get_or_insert_default());
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post];
        for operation in operations.into_iter().flatten() {
            let keyed = operation.security.is_some();
            // A body that is too large is 400 here.
            operation.responses.responses.remove("413");
            add_failures(operation, keyed);
            add_headers(operation, keyed);
        }
    }
}

fn describe(components: &mut Components) {
    for (name, summary, error) in failures() {
        let body = serde_json::to_value(error.body()).ok();
        let example = ExampleBuilder::new().summary(sentence(summary)).value(body).build();
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
    for row in failures().into_iter().filter(|(.., error)| can_fail(operation, keyed, error)) {
        rows.entry(row.2.status_code().as_str().to_owned()).or_default().push(row);
    }
    for (status, rows) in rows {
        let responses = &mut operation.responses.responses;
        let response = responses.entry(status).or_insert_with(|| Response::new("").into());
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            let cases: Vec<_> = rows.iter().map(|(_, summary, _)| *summary).collect();
            response.description = sentence(&cases.join("; "));
        }
        let reference = |name| Ref::new(format!("#/components/examples/{name}"));
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("ErrorBody")))
            .examples_from_iter(rows.iter().map(|(name, ..)| (*name, RefOr::Ref(reference(name)))))
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

/// A phrase with a capital letter at its beginning.
fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
