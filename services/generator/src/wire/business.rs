//! Names of businesses and brands on the wire.

use serde::{Deserialize, Deserializer};
use shell::Violation;
use utoipa::IntoParams;
use validator::Validate;

use super::name::culture;
use super::request::{Request, complete, seeded};
use super::values::filled;
use crate::model::names::{self, Culture};
use crate::model::{Seed, brand};

/// Maximum length of the starting words.
const LONGEST_WORDS: usize = 100;

/// Parameters of `POST /api/Name/BusinessName`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BusinessParameters {
    /// Number of names.
    #[param(value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = 1000))]
    number: Option<i32>,
    /// Language and country from `/api/Name/Cultures`.
    #[serde(rename = "cultureCode", default, deserialize_with = "culture")]
    #[param(rename = "cultureCode", value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en_US")]
    culture_code: Option<&'static Culture>,
    /// Makes the response repeatable: the same seed and parameters give the same body within one
    /// `X-Data-Version`. Without it, a random seed is used and returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

/// A request for names of businesses.
pub struct BusinessRequest {
    /// Number of names.
    pub number: usize,
    /// Culture, `en_US` by default.
    pub culture: &'static Culture,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for BusinessRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |BusinessParameters { number, culture_code, seed }| {
            let culture = culture_code.unwrap_or_else(names::american);
            Some(Self { number: number?.try_into().ok()?, culture, seed })
        })
    }
}

/// Parameters of `GET /api/Name/Suggestions` and `POST /api/Name/BrandName`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WordsParameters {
    /// The words in the names.
    #[serde(rename = "startingWords", default, deserialize_with = "words")]
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
    /// Makes the response repeatable: the same seed and parameters give the same body within one
    /// `X-Data-Version`. Without it, a random seed is used and returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    filled(deserializer, LONGEST_WORDS).map(|words| Some(words.to_owned()))
}

/// A request for names with given words.
pub struct WordsRequest {
    /// The words.
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

/// A request for brand names. The words have a letter or digit.
pub struct BrandRequest {
    /// The words.
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
