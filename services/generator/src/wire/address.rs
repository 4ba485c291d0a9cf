//! Addresses on the wire.

use serde::{Deserialize, Deserializer};
use shell::Violation;
use utoipa::IntoParams;
use validator::Validate;

use super::request::{Request, complete, seeded};
use super::values::{LONGEST_NAME, limited, listed};
use crate::model::Seed;
use crate::model::names::{self, Culture};

/// Parameters of `GET /api/Misc/Random-Address`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AddressParameters {
    /// Number of addresses.
    #[param(value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = 1000))]
    number: Option<i32>,
    /// Language and country from `/api/Misc/Cultures`.
    #[serde(default, deserialize_with = "culture")]
    #[param(value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en", example = "de")]
    culture: Option<&'static Culture>,
    /// Makes the response repeatable: the same seed and parameters give the same body within one
    /// `X-Data-Version`. Without it, a random seed is used and returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

/// Deserializes a culture of `/api/Misc/Cultures`.
fn culture<'de, D>(deserializer: D) -> Result<Option<&'static Culture>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(names::find(limited(deserializer, LONGEST_NAME)?), "/api/Misc/Cultures")
}

/// A request for addresses.
pub struct AddressRequest {
    /// Number of addresses.
    pub number: usize,
    /// Culture, `en` by default.
    pub culture: &'static Culture,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for AddressRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |AddressParameters { number, culture, seed }| {
            let culture = culture.unwrap_or_else(names::english);
            Some(Self { number: number?.try_into().ok()?, culture, seed })
        })
    }
}

seeded!(AddressRequest);
