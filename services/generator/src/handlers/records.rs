//! `/api/Records`.

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue, VARY};
use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, post};
use auth::{After, Caller};
use jiff::civil::Date;
use serde_json::Value;
use shell::{Fault, Violation, is_head};

use super::input::BodyInput;
use super::{list, reply, stream};
use crate::error::{self, BodyFailures, Failures};
use crate::metrics::{self, Kind, Tally};
use crate::model::records::{Bounds, Table, parse};
use crate::model::{SEEDED_DAY, Seed};
use crate::state::State;
use crate::wire::{
    Archive, Document, DocumentError, Form, MOST_ROWS, RecordsFormat, RecordsParameters,
    RecordsRequest, RecordsSchema, RowForm, WORKBOOK, fill_book, schema_violations,
};

/// Maximum number of rows, across all tables, for callers without a key.
const ANONYMOUS_ROWS: u64 = 100_000;
/// Maximum number of tables per schema.
const TABLES: usize = 20;
/// Maximum number of fields per table.
const FIELDS: usize = 200;
/// Maximum number of cells per workbook, since workbooks are built in memory before they are sent.
const BOOK_CELLS: u64 = 1_000_000;
/// Maximum number of values generated for a workbook, including those that only other fields use.
/// This is limited because the work continues even if the client disconnects.
const BOOK_VALUES: u64 = 20_000_000;
/// Maximum size of all text in a workbook, in bytes.
const BOOK_BYTES: usize = 64 << 20;
const ARCHIVE: &str = "application/zip";

/// Generate records from a schema
///
/// Rows are generated as the response is sent. Each row depends only on the seed, the schema and
/// the row number, so every part of a table is the same in every format. Within a row, fields that
/// describe the same person match. References can point to any row in the full table. A long
/// response occupies one of the caller's stream slots. The service's README describes all field
/// types.
#[utoipa::path(
    operation_id = "generateRecords",
    tag = "Misc",
    params(RecordsParameters),
    request_body(
        content = RecordsSchema,
        examples(
            ("shop" = (summary = "Shop with customers, products, orders and items", value = json!({"tables": [{"name": "customers", "rows": 50, "fields": [{"name": "id", "type": "sequence"}, {"name": "name", "type": "person", "part": "fullName"}, {"name": "email", "type": "person", "part": "email"}, {"name": "street", "type": "person", "part": "street"}, {"name": "city", "type": "person", "part": "city"}, {"name": "postcode", "type": "person", "part": "postcode"}, {"name": "newsletter", "type": "boolean", "share": 0.3}]}, {"name": "products", "rows": 20, "fields": [{"name": "sku", "type": "pattern", "regex": "[A-Z]{3}-[0-9]{4}", "unique": true}, {"name": "title", "type": "text", "words": 3, "vocabulary": "business"}, {"name": "price", "type": "decimal", "min": 1, "max": 200}]}, {"name": "orders", "rows": 200, "fields": [{"name": "id", "type": "uuid", "version": 7}, {"name": "customer", "type": "reference", "table": "customers", "field": "id", "choose": "skewed"}, {"name": "placed", "type": "timestamp"}, {"name": "status", "type": "choice", "values": ["new", "paid", "sent", "returned"], "weights": [1, 3, 10, 1]}]}, {"name": "items", "rows": 400, "uniquePair": ["order", "product"], "fields": [{"name": "order", "type": "reference", "table": "orders", "field": "id"}, {"name": "product", "type": "reference", "table": "products", "field": "sku"}, {"name": "quantity", "type": "integer", "min": 1, "max": 5}]}]}))),
            ("bank" = (summary = "Bank with account holders, accounts and payments", value = json!({"tables": [{"name": "holders", "rows": 50, "locale": "de", "fields": [{"name": "id", "type": "sequence", "start": 1000}, {"name": "name", "type": "person", "part": "nameLatin"}, {"name": "born", "type": "person", "part": "birthDate"}, {"name": "tax_number", "type": "person", "part": "nationalNumber"}, {"name": "phone", "type": "person", "part": "phone"}]}, {"name": "accounts", "rows": 80, "fields": [{"name": "number", "type": "sequence", "start": 1}, {"name": "holder", "type": "reference", "table": "holders", "field": "id"}, {"name": "iban", "type": "iban", "country": "DE"}, {"name": "balance", "type": "normal", "mean": 2500, "deviation": 1800}, {"name": "limit", "type": "choice", "values": [0, 500, 1000], "weights": [3, 2, 1]}]}, {"name": "payments", "rows": 500, "fields": [{"name": "id", "type": "uuid", "version": 7}, {"name": "account", "type": "reference", "table": "accounts", "field": "number"}, {"name": "amount", "type": "lognormal", "mean": 3.2, "deviation": 1.1, "max": 20000}, {"name": "booked", "type": "timestamp", "zone": "Europe/Berlin", "step": 60}, {"name": "purpose", "type": "text", "words": 4, "nulls": 0.2}]}]}))),
            ("clinic" = (summary = "Clinic with patients and visits", value = json!({"tables": [{"name": "patients", "rows": 40, "locale": "fr", "fields": [{"name": "id", "type": "sequence"}, {"name": "given", "type": "person", "part": "givenName", "minAge": 0, "maxAge": 99}, {"name": "surname", "type": "person", "part": "surname", "minAge": 0, "maxAge": 99}, {"name": "sex", "type": "person", "part": "sex", "minAge": 0, "maxAge": 99}, {"name": "born", "type": "person", "part": "birthDate", "minAge": 0, "maxAge": 99}, {"name": "blood", "type": "choice", "values": ["O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-"], "weights": [38, 34, 9, 3, 7, 6, 2, 1]}]}, {"name": "visits", "rows": 150, "fields": [{"name": "id", "type": "sequence"}, {"name": "patient", "type": "reference", "table": "patients", "field": "id"}, {"name": "day", "type": "date"}, {"name": "at", "type": "time", "min": "08:00", "max": "17:45", "step": 900}, {"name": "temperature", "type": "normal", "mean": 36.8, "deviation": 0.5, "decimals": 1, "min": 35, "max": 42}, {"name": "note", "type": "text", "words": 8, "nulls": 0.4}]}]}))),
            ("log" = (summary = "Web server log", value = json!({"fields": [{"name": "time", "type": "timestamp"}, {"name": "client", "type": "ip"}, {"name": "method", "type": "choice", "values": ["GET", "POST", "HEAD"], "weights": [90, 8, 2]}, {"name": "url", "type": "url"}, {"name": "status", "type": "choice", "values": [200, 301, 404, 500], "weights": [92, 3, 4, 1]}, {"name": "bytes", "type": "lognormal", "mean": 8, "deviation": 1.5, "decimals": 0}, {"name": "milliseconds", "type": "lognormal", "mean": 2.5, "deviation": 0.9, "decimals": 1}, {"name": "agent", "type": "userAgent"}]})))
        )
    ),
    responses(
        (status = 200,
            content(
                (serde_json::Value = "application/json",
                    example = json!([{"id": 1, "name": "Greta Vogel", "email": "greta.vogel@example.com", "spent": 17.5}])),
                (String = "application/x-ndjson"),
                (String = "text/csv"),
                (String = "application/sql"),
                (Vec<u8> = "application/zip"),
                (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
            ),
            headers(("X-Ref-Date" = String, description = "Reference date of ages, dates and card expiry dates"))),
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
        is_part: input.offset > 0,
        is_sql: matches!(input.format, Some(RecordsFormat::Sql | RecordsFormat::Copy)),
        rows: input.rows.map(|rows| rows.saturating_add(input.offset)),
        ..bounds(seed.clone(), day)
    };
    let refuse = |violations| Fault::InvalidBody(violations).into_error(&request);
    let schema = match parse(&input.schema, &bounds) {
        Ok(schema) if input.violations.is_empty() => schema,
        parsed => {
            let faults = parsed.err().map(schema_violations).unwrap_or_default();
            return Err(refuse([input.violations, faults].concat()));
        }
    };
    let most = bounds.most_rows;
    let is_past = bounds.rows.is_some_and(|rows| rows > most);
    let is_asked = |own: &Table| input.table.as_ref().is_none_or(|name| *name == own.name);
    if is_past && schema.tables.iter().any(|own| own.is_open && is_asked(own)) {
        let text = format!("rows and offset must be at most {most} together.");
        return Err(refuse(vec![Violation::new("offset", "rows", text)]));
    }
    let part = (input.offset, input.rows);
    let table = input.table.as_deref();
    let wanted = |own: &Table| {
        let (_, rows) = if table.is_none() { own.asked(part) } else { part };
        rows.map_or(own.rows, |rows| rows.min(own.rows))
    };
    let rows = schema.tables.iter().map(|table| wanted(table)).fold(0, u64::saturating_add);
    if caller.key.is_none() && rows > ANONYMOUS_ROWS {
        let text =
            format!("The tables must have at most {ANONYMOUS_ROWS} rows together without a key.");
        return Err(refuse(vec![Violation::new("rows", "rows", text)]));
    }
    let refuse_table = |cause: DocumentError| {
        refuse(vec![Violation::new("table", "table", format!("The field table {cause}."))])
    };
    let form = match input.format {
        Some(format) => format.row_form(),
        None => match list::form(&request) {
            Form::Json => Some(RowForm::Json),
            Form::Csv => Some(RowForm::Csv),
            Form::Ndjson => Some(RowForm::Ndjson),
            // An archive has one file per table, so it can't contain a workbook.
            Form::Xlsx => input.is_zip.then_some(RowForm::Json),
        },
    };
    let Some(form) = form else {
        let sheets = schema.tables.iter().filter(|own| table.is_none_or(|name| name == own.name));
        if let Some(text) = book_excess(sheets.map(|own| (&**own, wanted(own)))) {
            return Err(refuse(vec![Violation::new("rows", "rows", text)]));
        }
        if table.is_some_and(|name| schema.tables.iter().all(|own| own.name != name)) {
            return Err(refuse_table(DocumentError::UnknownTable));
        }
        drop(schema);
        let bytes = book(&request, &caller, &state, (input.schema, bounds), (input.table, part));
        let mut response = reply::marked(&seed, HttpResponse::Ok().body(bytes.await?));
        mark(&mut response, WORKBOOK, Some("records.xlsx"));
        return Ok(reply::with_reference_day(response, day));
    };
    let mut tally = Tally::new(Kind::Record);
    let is_head = is_head(&request);
    let (body, kind) = if input.is_zip {
        let archive = Archive::new(form, &schema, table, part, input.has_mark);
        let mut archive = archive.map_err(refuse_table)?;
        let next = move |out: &mut Vec<u8>| {
            let more = archive.push(out);
            tally.set(archive.rows_written());
            more
        };
        (stream::body(&request, &caller, &state, (!is_head).then_some(next)), ARCHIVE)
    } else {
        let mut document = Document::new(form, &schema, table, part).map_err(refuse_table)?;
        let mut mark = if input.has_mark && form == RowForm::Csv { "\u{feff}" } else { "" };
        let next = move |out: &mut Vec<u8>| {
            out.extend_from_slice(std::mem::take(&mut mark).as_bytes());
            let more = document.push(out);
            tally.set(document.rows_written());
            more
        };
        let next = (!is_head).then_some(next);
        (stream::body(&request, &caller, &state, next), form.content_type())
    };
    let body = body.map_err(|fault| fault.into_error(&request))?;
    let mut response = reply::marked(&seed, HttpResponse::Ok().message_body(body)?);
    mark(&mut response, kind, input.is_zip.then_some("records.zip"));
    Ok(reply::with_reference_day(response, day))
}

/// Returns the limits that apply to schemas sent over HTTP.
pub fn bounds(seed: Seed, day: Date) -> Bounds {
    Bounds {
        seed,
        day,
        is_part: false,
        is_sql: false,
        rows: None,
        most_tables: TABLES,
        most_fields: FIELDS,
        most_rows: MOST_ROWS.unsigned_abs().into(),
    }
}

/// Returns an error message if a workbook with these tables and row counts would be too large.
fn book_excess<'t>(sheets: impl Iterator<Item = (&'t Table, u64)> + Clone) -> Option<String> {
    let total = |count: fn(&Table) -> u64| {
        let counts = sheets.clone().map(|(table, rows)| rows.saturating_mul(count(table)));
        counts.fold(0, u64::saturating_add)
    };
    if total(|table| table.columns().count() as u64) > BOOK_CELLS {
        return Some(format!("A workbook has at most {BOOK_CELLS} cells: use csv."));
    }
    (total(Table::cost) > BOOK_VALUES).then(|| {
        format!(
            "A workbook has at most {BOOK_VALUES} values, including those that other fields use: \
             use csv."
        )
    })
}

/// Builds a workbook on a blocking thread, while holding one of the caller's stream slots.
async fn book(
    request: &HttpRequest,
    caller: &Caller,
    state: &State,
    (schema, bounds): (Value, Bounds),
    (table, part): (Option<String>, (u64, Option<u64>)),
) -> Result<Vec<u8>, Error> {
    if is_head(request) {
        return Ok(Vec::new());
    }
    let work = move || {
        // This can't fail, because the same schema has already been parsed.
        let schema =
            parse(&schema, &bounds).map_err(|_| Fault::Internal("the schema changed".into()))?;
        let made = fill_book(&schema, table.as_deref(), part, BOOK_BYTES)
            .and_then(|(book, rows)| Ok((book.into_bytes()?, rows)));
        let (book, rows) = made.map_err(|cause| list::unfit("rows", &cause))?;
        metrics::made(Kind::Record, rows);
        Ok(book)
    };
    let made = stream::apart(request, caller, state, work).await;
    made.map_err(|fault| fault.into_error(request))
}

fn mark(response: &mut HttpResponse, kind: &'static str, file: Option<&str>) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    let file = file.map(|file| HeaderValue::try_from(format!("attachment; filename=\"{file}\"")));
    if let Some(Ok(file)) = file {
        headers.insert(CONTENT_DISPOSITION, file);
    }
}
