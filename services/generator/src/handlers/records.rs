//! `/api/Records`.

use actix_web::http::header::{CONTENT_TYPE, HeaderValue, VARY};
use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, post};
use auth::{After, Caller};
use shell::{Fault, Violation, is_head};

use super::input::BodyInput;
use super::{list, reply, stream};
use crate::error::{self, BodyFailures, Failures};
use crate::metrics::{Kind, Tally};
use crate::model::records::{Bounds, parse};
use crate::model::{SEEDED_DAY, Seed};
use crate::state::State;
use crate::wire::{
    Document, DocumentError, Form, MOST_ROWS, RecordsParameters, RecordsRequest, RecordsSchema,
    RowForm, schema_violations,
};

/// Maximum number of rows of all tables without a key.
const ANONYMOUS_ROWS: u64 = 100_000;
/// Maximum number of tables.
const TABLES: usize = 20;
/// Maximum number of fields of a table.
const FIELDS: usize = 200;

/// Generate records of tables that a schema describes
///
/// Rows are generated while they are sent. A row depends on seed, schema and its number only: any part
/// in any format is the same. The parts of a person agree within a row, and references always exist.
/// A long response uses one of the caller's slots. The README of the service has all types of fields.
#[utoipa::path(
    operation_id = "generateRecords",
    tag = "Misc",
    params(RecordsParameters),
    request_body = RecordsSchema,
    responses(
        (status = 200,
            content(
                (Vec<std::collections::BTreeMap<String, serde_json::Value>> = "application/json",
                    example = json!([{"id": 1, "name": "Greta Vogel", "email": "greta.vogel@example.com", "spent": 17.5}])),
                (String = "application/x-ndjson"),
                (String = "text/csv"),
                (String = "application/sql")
            ),
            headers(("X-Ref-Date" = String, description = "Day that ages, dates and the expiry of cards were counted from"))),
        Failures,
        BodyFailures
    )
)]
#[post("/api/Records")]
pub async fn generate_records(
    After(BodyInput(input)): After<BodyInput<RecordsRequest>>,
    caller: Caller,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let day = input.reference_day.unwrap_or(match &input.seed {
        Some(_) => SEEDED_DAY,
        None => state.today(),
    });
    let seed = input.seed.map_or_else(Seed::fresh, Ok);
    let seed = seed.map_err(|cause| error::Error::Seed(cause).answered(&request))?;
    let bounds = Bounds {
        seed: seed.clone(),
        day,
        is_part: input.offset > 0,
        rows: input.rows.map(|rows| rows.saturating_add(input.offset)),
        most_tables: TABLES,
        most_fields: FIELDS,
        most_rows: MOST_ROWS.unsigned_abs().into(),
    };
    let refuse = |violations| Fault::InvalidBody(violations).into_error(&request);
    let schema =
        parse(&input.schema, &bounds).map_err(|faults| refuse(schema_violations(faults)))?;
    let wanted = |rows: u64| input.rows.unwrap_or(rows).min(rows);
    let rows = schema.tables.iter().map(|table| wanted(table.rows)).fold(0, u64::saturating_add);
    if caller.key.is_none() && rows > ANONYMOUS_ROWS {
        let text =
            format!("The tables must have at most {ANONYMOUS_ROWS} rows together without a key.");
        return Err(refuse(vec![Violation::new("rows", "rows", text)]));
    }
    let form = input.format.unwrap_or(match list::form(&request) {
        Form::Json => RowForm::Json,
        Form::Csv => RowForm::Csv,
        Form::Ndjson => RowForm::Ndjson,
    });
    let part = (input.offset, input.rows);
    let document = Document::new(form, &schema, input.table.as_deref(), part);
    let mut document = document.map_err(|cause: DocumentError| {
        refuse(vec![Violation::new("table", "table", format!("The field table {cause}."))])
    })?;
    let mut tally = Tally::new(Kind::Record);
    let next = move |out: &mut Vec<u8>| {
        let more = document.push(out);
        if more {
            tally.count();
        }
        more
    };
    let body = stream::body(&request, &caller, &state, (!is_head(&request)).then_some(next));
    let body = body.map_err(|fault| fault.into_error(&request))?;
    let mut response = reply::marked(&seed, HttpResponse::Ok().message_body(body)?);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(reply::with_reference_day(response, day))
}
