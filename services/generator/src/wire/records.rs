//! `/api/Records`.

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;
use shell::Violation;
use shell::params::{Input, on_field, read_validated};
use utoipa::{IntoParams, ToSchema};
use validator::{Validate, ValidationError};

use super::body::{BodyRequest, members};
use super::card::reference_day;
use super::document::RowForm;
use super::rules::RULES;
use crate::model::Seed;
use crate::model::records::SchemaFault;

/// Maximum number of rows per table in an HTTP response.
pub const MOST_ROWS: i32 = 10_000_000;

/// Parameters of `POST /api/Records`.
#[derive(Default, Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
#[validate(schema(function = "no_archived_book", skip_on_field_errors = false))]
pub struct RecordsParameters {
    /// Number of rows per table. Default: the table's `rows`, or 10. Without a key, all tables
    /// together can have up to 100,000 rows.
    #[param(value_type = Option<i32>, minimum = 0, maximum = 10000000)]
    #[validate(range(min = 0, max = MOST_ROWS))]
    rows: Option<i32>,
    /// Number of rows to skip. With the same seed, every part is a slice of the same table.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Makes the response reproducible: the same seed and schema return the same rows in every
    /// format, as long as `X-Data-Version` does not change. Default: a random seed, returned in
    /// `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Reference date for ages, dates and card expiry dates, as `YYYY-MM-DD`. Default: 2030-01-01
    /// with a seed, otherwise today.
    #[serde(rename = "refDate", default, deserialize_with = "reference_day")]
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    reference_day: Option<Date>,
    /// Row format. Default: JSON, NDJSON, CSV or a workbook, whichever `Accept` prefers. An `xlsx`
    /// workbook can have up to 1,000,000 cells.
    #[param(value_type = Option<RecordsFormat>, inline)]
    format: Option<RecordsFormat>,
    /// Returns a ZIP archive with one file per table. Not for `xlsx`.
    #[param(value_type = Option<bool>, default = false)]
    zip: Option<bool>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
    /// Returns only this table. Required for `csv` and `ndjson` if the schema has several tables,
    /// unless `zip` is set.
    #[param(value_type = Option<String>, max_length = 64)]
    table: Option<String>,
}

/// Rejects ZIP archives of workbooks, since a workbook contains all tables anyway.
fn no_archived_book(parameters: &RecordsParameters) -> Result<(), ValidationError> {
    match (parameters.format, parameters.zip) {
        (Some(RecordsFormat::Xlsx), Some(true)) => Err(on_field(
            "zip",
            "format",
            "The field zip must be false for xlsx: a workbook has a sheet for each table.",
        )),
        _ => Ok(()),
    }
}

/// Row format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordsFormat {
    /// A JSON array, or an object of arrays for several tables.
    Json,
    /// One JSON object per line.
    Ndjson,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// INSERT statements with up to 100 rows each.
    Sql,
    /// PostgreSQL COPY data for psql.
    Copy,
    /// An Excel workbook with one sheet per table.
    Xlsx,
}

impl RecordsFormat {
    /// Returns the row format, or `None` for workbooks.
    pub fn row_form(self) -> Option<RowForm> {
        match self {
            Self::Json => Some(RowForm::Json),
            Self::Ndjson => Some(RowForm::Ndjson),
            Self::Csv => Some(RowForm::Csv),
            Self::Sql => Some(RowForm::Sql),
            Self::Copy => Some(RowForm::Copy),
            Self::Xlsx => None,
        }
    }
}

/// Tables and their fields. Use `{"fields": [...]}` for a single table, and `{"tables": [{"name":
/// ..., "rows": ..., "fields": [...]}]}` for several. Each field has a `name` and a `type`; its
/// other members depend on the type.
#[derive(ToSchema)]
#[schema(value_type = Object)]
#[expect(dead_code, reason = "documentation: the schema is read member by member")]
pub struct RecordsSchema(Value);

/// A request for records, whose parameters and schema may have errors.
pub struct RecordsRequest {
    /// The number of rows per table.
    pub rows: Option<u64>,
    /// The number of rows to skip.
    pub offset: u64,
    /// The caller's seed.
    pub seed: Option<Seed>,
    pub reference_day: Option<Date>,
    pub format: Option<RecordsFormat>,
    /// Whether to pack each table into its own file in a ZIP archive.
    pub is_zip: bool,
    /// Whether CSV starts with a byte order mark.
    pub has_mark: bool,
    /// The only table to return, if given.
    pub table: Option<String>,
    pub schema: Value,
    /// Errors in the parameters, which are reported together with those in the schema.
    pub violations: Vec<Violation>,
}

impl BodyRequest for RecordsRequest {
    fn read(query: &str, body: &[u8]) -> Result<Self, Vec<Violation>> {
        let input = Input::query(query);
        let reading = read_validated::<RecordsParameters>(&input, &RULES);
        let (parameters, violations) = (reading.value.unwrap_or_default(), reading.violations);
        let members = match members(body) {
            Ok(members) => members,
            Err(broken) => return Err([vec![broken], violations].concat()),
        };
        // Out-of-range numbers must not cause follow-up errors.
        let number = |rows: Option<i32>| -> Option<u64> {
            rows.filter(|_| violations.is_empty())?.try_into().ok()
        };
        Ok(Self {
            rows: number(parameters.rows),
            offset: number(parameters.offset).unwrap_or(0),
            seed: parameters.seed,
            reference_day: parameters.reference_day,
            format: parameters.format,
            is_zip: parameters.zip.unwrap_or(false),
            has_mark: parameters.bom.unwrap_or(false),
            table: parameters.table,
            schema: Value::Object(members.into_iter().collect()),
            violations,
        })
    }
}

/// Converts schema errors to violations. Their fields are JSON pointers, or `$` for the schema as a
/// whole.
pub fn violations(faults: Vec<SchemaFault>) -> Vec<Violation> {
    let violation = |fault: SchemaFault| {
        let field = if fault.pointer.is_empty() { "$".to_owned() } else { fault.pointer };
        Violation::new(field, "schema", fault.message)
    };
    faults.into_iter().map(violation).collect()
}
