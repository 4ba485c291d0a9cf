//! Requests for business and brand names.

use serde::Deserialize;
use shell::Violation;
use utoipa::IntoParams;
use validator::Validate;

use super::name::culture;
use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::values::text;
use crate::model::names::{self, Culture};
use crate::model::{Seed, brand};

/// Parameters of `POST /api/Name/BusinessName`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BusinessParameters {
    /// Number of names: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    #[param(value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = MOST))]
    number: Option<i32>,
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

/// A request for business names.
pub struct BusinessRequest {
    /// The number of names.
    pub number: usize,
    /// The culture, `en_US` by default.
    pub culture: &'static Culture,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for BusinessRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("number", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |BusinessParameters { number, culture_code, seed, offset, bom }| {
            let culture = culture_code.unwrap_or_else(names::american);
            Some(Self {
                number: number?.try_into().ok()?,
                culture,
                seed,
                extent: Extent::new(offset, bom),
            })
        })
    }
}

/// Parameters of `GET /api/Name/Suggestions` and `POST /api/Name/BrandName`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WordsParameters {
    /// Words to build the names from.
    #[serde(rename = "startingWords", default, deserialize_with = "text::<_, 100>")]
    #[param(
        rename = "startingWords",
        value_type = String,
        required = true,
        min_length = 1,
        max_length = 100,
        pattern = r"[^\s\u0085]",
        example = "blue river"
    )]
    #[validate(required)]
    starting_words: Option<String>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

/// A request for names based on a few words.
pub struct WordsRequest {
    pub words: String,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for WordsRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |WordsParameters { starting_words, seed }| {
            Some(Self { words: starting_words?, seed })
        })
    }
}

/// A request for brand names. The words contain at least one letter or digit.
pub struct BrandRequest {
    pub words: String,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for BrandRequest {
    fn read(query: &str, variable: &str) -> Result<Self, Vec<Violation>> {
        let WordsRequest { words, seed } = WordsRequest::read(query, variable)?;
        if brand::possible(&words) {
            return Ok(Self { words, seed });
        }
        let message = "The startingWords field must contain a letter or a digit.";
        Err(vec![Violation::new("startingWords", "letters", message)])
    }
}

seeded!(BusinessRequest WordsRequest BrandRequest);
series!(BusinessRequest, |it| Some(it.number));
