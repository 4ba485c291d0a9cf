//! `/api/Schemas`: record schemas that are saved per key.

use actix_web::dev::Payload;
use actix_web::web::{Data, Path};
use actix_web::{Error, FromRequest, HttpRequest, HttpResponse, delete, get, put};
use auth::Caller;
use futures_util::future::LocalBoxFuture;
use jiff::Timestamp;
use shell::{Credentials, Fault, Violation};

use super::input::BodyInput;
use super::{records, reply};
use crate::app;
use crate::error::{self, BodyFailures, Failures, Missing};
use crate::model::records::parse;
use crate::model::{SEEDED_DAY, Seed};
use crate::state::State;
use crate::wire::{SavedSchema, SchemaPath, SchemaRequest, schema_violations};

/// Maximum length of a schema in bytes.
const LONGEST: usize = 64 << 10;
/// Maximum length of a name in characters.
const NAME: usize = 64;

/// The caller's key and an inner extractor, which only runs if there is a key. A body that is going
/// to be rejected is therefore never read.
pub struct Keyed<T> {
    key_id: i64,
    input: T,
}

impl<T: FromRequest + 'static> FromRequest for Keyed<T> {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self, Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let caller = Caller::extract(&request).await?;
            let missing = || Fault::Unauthorized(Credentials::Missing).into_error(&request);
            let key_id = caller.key.as_ref().map(|key| key.id).ok_or_else(missing)?;
            let input = T::from_request(&request, &mut payload).await.map_err(Into::into)?;
            Ok(Self { key_id, input })
        })
    }
}

/// List saved schemas
///
/// Returns the record schemas saved with the caller's key, sorted by name.
#[utoipa::path(
    operation_id = "listSchemas",
    tag = "Misc",
    responses((status = 200, description = "The saved schemas", body = Vec<SavedSchema>,
        example = json!([{"name": "shop", "changed": "2026-11-28T09:30:00Z"}])), Failures),
    security(("ApiKey" = []))
)]
#[get("/api/Schemas")]
pub async fn list_schemas(
    Keyed { key_id, input: () }: Keyed<()>,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let saved = app::list_schemas(&state, key_id).await;
    let saved = saved.map_err(|cause| error::Error::from(cause).answered(&request))?;
    let shown = |(name, changed)| {
        let changed = Timestamp::from_second(changed).unwrap_or_default().to_string();
        SavedSchema { name, changed }
    };
    let saved: Vec<_> = saved.into_iter().map(shown).collect();
    Ok(reply::fresh(serde_json::to_vec(&saved)?))
}

/// Get a saved schema
///
/// Returns a schema saved with the caller's key. Use it as the body of `/api/Records`.
#[utoipa::path(
    operation_id = "readSchema",
    tag = "Misc",
    params(SchemaPath),
    responses(
        (status = 200, description = "The schema", body = serde_json::Value,
            example = json!({"fields": [{"name": "id", "type": "sequence"}]})),
        Failures,
        Missing
    ),
    security(("ApiKey" = []))
)]
#[get("/api/Schemas/{name}")]
pub async fn read_schema(
    Keyed { key_id, input: path }: Keyed<Path<SchemaPath>>,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let name = path.into_inner().name;
    let saved = app::read_schema(&state, key_id, name).await;
    match saved.map_err(|cause| error::Error::from(cause).answered(&request))? {
        Some(schema) => Ok(reply::fresh(schema)),
        None => Err(Fault::NotFound.into_error(&request)),
    }
}

/// Save a schema
///
/// Creates a record schema with this name for the caller's key, or replaces an existing one. A key
/// can have up to 100 schemas of up to 65,536 bytes each. An invalid schema is rejected, and the
/// response lists all its errors.
#[utoipa::path(
    operation_id = "saveSchema",
    tag = "Misc",
    params(SchemaPath),
    request_body(content = serde_json::Value, example = json!({"fields": [{"name": "id", "type": "sequence"}]})),
    responses((status = 204, description = "The schema was saved"), Failures, BodyFailures),
    security(("ApiKey" = []))
)]
#[put("/api/Schemas/{name}")]
pub async fn save_schema(
    path: Path<SchemaPath>,
    Keyed { key_id, input }: Keyed<BodyInput<SchemaRequest>>,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let BodyInput(SchemaRequest(schema)) = input;
    let name = path.into_inner().name;
    let refuse = |field: &str, text: String| {
        let violation = Violation::new(field.to_owned(), "schema", text);
        Fault::InvalidBody(vec![violation]).into_error(&request)
    };
    let length = name.chars().count();
    if !(1..=NAME).contains(&length) || name.chars().any(|c| c.is_control() || c == '/') {
        let text = format!(
            "The name must be 1 to {NAME} characters long, without control characters or slashes."
        );
        return Err(refuse("name", text));
    }
    let seed = Seed::fresh().map_err(|cause| error::Error::Seed(cause).answered(&request))?;
    let bounds = records::bounds(seed, SEEDED_DAY);
    parse(&schema, &bounds)
        .map_err(|faults| Fault::InvalidBody(schema_violations(faults)).into_error(&request))?;
    let body = schema.to_string();
    if body.len() > LONGEST {
        return Err(refuse("$", format!("The schema must be at most {LONGEST} bytes long.")));
    }
    let saved = app::save_schema(&state, key_id, name, body).await;
    match saved.map_err(|cause| error::Error::from(cause).answered(&request))? {
        true => Ok(HttpResponse::NoContent().finish()),
        false => Err(refuse(
            "name",
            format!("The key already has {} schemas: remove one first.", app::MOST_SCHEMAS),
        )),
    }
}

/// Delete a saved schema
#[utoipa::path(
    operation_id = "removeSchema",
    tag = "Misc",
    params(SchemaPath),
    responses((status = 204, description = "The schema was deleted"), Failures, Missing),
    security(("ApiKey" = []))
)]
#[delete("/api/Schemas/{name}")]
pub async fn remove_schema(
    Keyed { key_id, input: path }: Keyed<Path<SchemaPath>>,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let name = path.into_inner().name;
    let removed = app::remove_schema(&state, key_id, name).await;
    let removed = removed.map_err(|cause| error::Error::from(cause).answered(&request))?;
    match removed {
        true => Ok(HttpResponse::NoContent().finish()),
        false => Err(Fault::NotFound.into_error(&request)),
    }
}
