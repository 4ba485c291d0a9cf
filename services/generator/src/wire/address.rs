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
    /// How many addresses.
    #[param(value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = 1000))]
    number: Option<i32>,
    /// Language and country as `/api/Misc/Cultures` lists them.
    #[serde(default, deserialize_with = "culture")]
    #[param(value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en", example = "de")]
    culture: Option<&'static Culture>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

/// A culture of addresses, as `/api/Misc/Cultures` lists it.
fn culture<'de, D>(deserializer: D) -> Result<Option<&'static Culture>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(names::find(limited(deserializer, LONGEST_NAME)?), "/api/Misc/Cultures")
}

/// A request for addresses.
pub struct AddressRequest {
    /// How many addresses.
    pub number: usize,
    /// Culture; `en` unless the caller names another.
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
