//! Name requests and responses.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::record::Record;
use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::values::{LONGEST_NAME, limited, listed};
use crate::model::Seed;
use crate::model::names::{self, Culture, Part};

/// Part of the name to return.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NameType {
    /// The given name.
    FirstName,
    /// The family name.
    Surname,
    /// Given name and surname.
    FullName,
}

impl From<NameType> for Part {
    fn from(name_type: NameType) -> Self {
        match name_type {
            NameType::FirstName => Self::First,
            NameType::Surname => Self::Last,
            NameType::FullName => Self::Full,
        }
    }
}

/// Parameters of `GET /api/Name`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NameParameters {
    /// Part of the name to return.
    #[serde(rename = "nameType")]
    #[param(rename = "nameType", value_type = NameType, inline)]
    #[validate(required(code = "absent"))]
    name_type: Option<NameType>,
    /// Number of names: up to 5000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    #[param(value_type = i32, minimum = 1, maximum = 5000)]
    #[validate(required(code = "absent"), range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// Culture (language and country) from `/api/Name/Cultures`.
    #[serde(rename = "cultureCode", default, deserialize_with = "culture")]
    #[param(rename = "cultureCode", value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en_US")]
    culture_code: Option<&'static Culture>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
}

/// Deserializes one of the cultures listed at `/api/Name/Cultures`.
pub fn culture<'de, D>(deserializer: D) -> Result<Option<&'static Culture>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(names::find(limited(deserializer, LONGEST_NAME)?), "/api/Name/Cultures")
}

/// A request for names.
pub struct NameRequest {
    /// The part of the name to return.
    pub part: Part,
    /// Number of names.
    pub quantity: usize,
    /// The culture, `en_US` by default.
    pub culture: &'static Culture,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for NameRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 5000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |parameters: NameParameters| {
            Some(Self {
                part: parameters.name_type?.into(),
                quantity: parameters.quantity?.try_into().ok()?,
                culture: parameters.culture_code.unwrap_or_else(names::american),
                seed: parameters.seed,
                extent: Extent::new(parameters.offset, parameters.bom),
            })
        })
    }
}

seeded!(NameRequest);
series!(NameRequest, |it| Some(it.quantity));

/// A supported culture.
#[derive(Serialize, ToSchema)]
pub struct CultureAnswer {
    /// Culture code, for `culture` and `cultureCode` parameters.
    #[schema(example = "en_US")]
    code: &'static str,
    /// English name of the culture.
    #[schema(example = "English (United States)")]
    name: &'static str,
}

impl From<&Culture> for CultureAnswer {
    fn from(culture: &Culture) -> Self {
        Self { code: culture.code, name: culture.name }
    }
}

impl Record for CultureAnswer {
    const COLUMNS: &'static [&'static str] = &["code", "name"];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self.code), Cow::Borrowed(self.name)]
    }
}
