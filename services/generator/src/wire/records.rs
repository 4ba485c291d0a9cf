//! `/api/Records`.

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;
use shell::Violation;
use shell::params::{Input, read_validated};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::body::{BodyRequest, members};
use super::card::reference_day;
use super::document::RowForm;
use super::rules::RULES;
use crate::model::Seed;
use crate::model::records::SchemaFault;

/// Maximum rows per table in an HTTP response.
pub const MOST_ROWS: i32 = 10_000_000;

/// Parameters of `POST /api/Records`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RecordsParameters {
    /// Number of rows of each table, at most 100,000 without a key. Default: the `rows` of the table,
    /// or 10.
    #[param(value_type = Option<i32>, minimum = 0, maximum = 10000000)]
    #[validate(range(min = 0, max = MOST_ROWS))]
    rows: Option<i32>,
    /// Number of rows to skip. The rows of a part are those of the whole table of the same seed.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Makes the response repeatable: the same seed and schema give the same rows within one
    /// `X-Data-Version`, whatever the format and the part. Without it, a random seed is used and returned
    /// in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Reference day for ages, dates and the expiry of cards, `YYYY-MM-DD`. Default: 2030-01-01 with a
    /// seed, otherwise today.
    #[serde(rename = "refDate", default, deserialize_with = "reference_day")]
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    reference_day: Option<Date>,
    /// Format of the rows. Default: the one that `Accept` prefers among JSON, NDJSON and CSV. `xlsx` has at
    /// most 1,000,000 cells.
    #[param(value_type = Option<RecordsFormat>, inline)]
    format: Option<RecordsFormat>,
    /// Returns a ZIP archive with a file for each table.
    #[param(value_type = Option<bool>, default = false)]
    zip: Option<bool>,
    /// Begins CSV with a byte order mark, for spreadsheets.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
    /// The only table to return. Required for `csv` and `ndjson` if the schema has several, except with `zip`.
    #[param(value_type = Option<String>, max_length = 64)]
    table: Option<String>,
}

/// A format of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordsFormat {
    /// A JSON array; an object of arrays for several tables.
    Json,
    /// One JSON object on each line.
    Ndjson,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// INSERT statements of 100 rows.
    Sql,
    /// COPY of PostgreSQL, for psql.
    Copy,
    /// A workbook of Excel with a sheet for each table.
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

/// Tables and their fields. `{"fields": [...]}` is one table; `{"tables": [{"name": ..., "rows": ...,
/// "fields": [...]}]}` are several. Each field has a `name` and a `type`; the other members depend on the
/// type.
#[derive(ToSchema)]
#[schema(value_type = Object)]
#[expect(dead_code, reason = "documentation: the schema is read member by member")]
pub struct RecordsSchema(Value);

/// A request for records.
pub struct RecordsRequest {
    /// Row count per table.
    pub rows: Option<u64>,
    /// Number of rows to skip.
    pub offset: u64,
    /// The caller's seed.
    pub seed: Option<Seed>,
    pub reference_day: Option<Date>,
    pub format: Option<RecordsFormat>,
    /// Whether to pack each table into its own file in a ZIP archive.
    pub is_zip: bool,
    /// Whether CSV starts with a byte order mark.
    pub has_mark: bool,
    /// Return only this table.
    pub table: Option<String>,
    pub schema: Value,
}

impl BodyRequest for RecordsRequest {
    fn read(query: &str, body: &[u8]) -> Result<Self, Vec<Violation>> {
        let input = Input::query(query);
        let parameters = read_validated::<RecordsParameters>(&input, &RULES).into_result();
        let schema = members(body).map(|members| Value::Object(members.into_iter().collect()));
        match (parameters, schema) {
            (Ok(parameters), Ok(schema)) => Ok(Self {
                rows: parameters.rows.and_then(|rows| rows.try_into().ok()),
                offset: parameters.offset.and_then(|rows| rows.try_into().ok()).unwrap_or(0),
                seed: parameters.seed,
                reference_day: parameters.reference_day,
                format: parameters.format,
                is_zip: parameters.zip.unwrap_or(false),
                has_mark: parameters.bom.unwrap_or(false),
                table: parameters.table,
                schema,
            }),
            (parameters, schema) => {
                let broken = schema.err().into_iter();
                Err(broken.chain(parameters.err().unwrap_or_default()).collect())
            }
        }
    }
}

/// Converts schema faults to violations. Their fields are JSON pointers, or `$` for the whole
/// schema.
pub fn violations(faults: Vec<SchemaFault>) -> Vec<Violation> {
    let violation = |fault: SchemaFault| {
        let field = if fault.pointer.is_empty() { "$".to_owned() } else { fault.pointer };
        Violation::new(field, "schema", fault.message)
    };
    faults.into_iter().map(violation).collect()
}
