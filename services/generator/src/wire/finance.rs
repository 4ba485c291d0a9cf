//! Requests and responses for bank accounts and crypto addresses.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::{Input, read_validated};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::record::Record;
use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::rules::RULES;
use super::spelling::Spelling;
use super::values::{LONGEST_NAME, limited, listed};
use crate::model::country::Country;
use crate::model::crypto::{self, COINS, Coin};
use crate::model::{Seed, iban};

/// Parameters of `GET /api/Finance/CryptoAddress`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CryptoParameters {
    /// Coin from `/api/Finance/CryptoAddress/Types`, or its ticker symbol.
    #[serde(rename = "cryptoType", default, deserialize_with = "coin")]
    #[param(
        rename = "cryptoType",
        value_type = Option<String>,
        max_length = 100,
        pattern = "^[A-Za-z0-9 ._-]*$",
        default = "Bitcoin"
    )]
    coin: Option<&'static Coin>,
    /// Number of values: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    /// Without it, the response is a single value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = MOST))]
    quantity: Option<i32>,
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

pub(super) fn coin<'de, D>(deserializer: D) -> Result<Option<&'static Coin>, D::Error>
where
    D: Deserializer<'de>,
{
    let name = limited(deserializer, LONGEST_NAME)?;
    listed(crypto::find(name), "/api/Finance/CryptoAddress/Types")
}

/// A request for one or more crypto addresses.
pub struct CryptoRequest {
    /// The coin, Bitcoin by default.
    pub coin: &'static Coin,
    /// The length of the list, or `None` for a single value outside a list.
    pub quantity: Option<usize>,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for CryptoRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |CryptoParameters { coin, quantity, seed, offset, bom }| {
            let quantity = quantity.and_then(|quantity| quantity.try_into().ok());
            Some(Self {
                coin: coin.or(COINS.first())?,
                quantity,
                seed,
                extent: Extent::new(offset, bom),
            })
        })
    }
}

/// A synthetic crypto address.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"type": "Bitcoin", "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}))]
pub struct CryptoAnswer {
    /// Name of the coin.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "Bitcoin")]
    pub kind: &'static str,
    /// Address with a valid checksum, derived from random bytes instead of a key.
    pub address: String,
}

impl Record for CryptoAnswer {
    const COLUMNS: &'static [&'static str] = &["type", "address"];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self.kind), Cow::Borrowed(&self.address)]
    }
}

/// The path parameter of `GET /api/Finance/Iban/{countryCode}`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct IbanPath {
    /// Two-letter country code from `/api/Finance/Countries`, in any letter case.
    #[serde(rename = "countryCode", default, deserialize_with = "country")]
    #[param(
        rename = "countryCode",
        value_type = String,
        required = true,
        min_length = 2,
        max_length = 2,
        pattern = "^[A-Za-z]{2}$",
        example = "DE"
    )]
    #[validate(required)]
    country_code: Option<&'static iban::Country>,
}

pub(super) fn country<'de, D>(deserializer: D) -> Result<Option<&'static iban::Country>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(iban::find(limited(deserializer, 2)?), "/api/Finance/Countries")
}

/// The query of `GET /api/Finance/Iban/{countryCode}`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IbanParameters {
    /// Number of values: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    /// Without it, the response is a single value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// `plain` (default) returns the number without spaces; `pretty` splits it into groups, as
    /// printed.
    #[param(value_type = Option<Spelling>, inline)]
    format: Option<Spelling>,
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

/// A request for one or more IBANs.
pub struct IbanRequest {
    /// The country from the path.
    pub country: &'static iban::Country,
    /// The length of the list, or `None` for a single value outside a list.
    pub quantity: Option<usize>,
    /// Whether to split the IBAN into groups.
    pub spelling: Spelling,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for IbanRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 1000));

    fn read(query: &str, variable: &str) -> Result<Self, Vec<Violation>> {
        let path = Input::default().with("countryCode", variable);
        let path = read_validated::<IbanPath>(&path, &RULES).into_result();
        let query = complete(query, Some::<IbanParameters>);
        match (path, query) {
            (Ok(IbanPath { country_code: Some(country) }), Ok(parameters)) => Ok(Self {
                country,
                quantity: parameters.quantity.and_then(|quantity| quantity.try_into().ok()),
                spelling: parameters.format.unwrap_or_default(),
                seed: parameters.seed,
                extent: Extent::new(parameters.offset, parameters.bom),
            }),
            (path, query) => {
                Err([path.err(), query.err()].into_iter().flatten().flatten().collect())
            }
        }
    }
}

seeded!(CryptoRequest IbanRequest);
series!(IbanRequest, |it| it.quantity);
series!(CryptoRequest, |it| it.quantity);

/// A supported country.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Germany", "countryCode": "DE"}))]
pub struct CountryAnswer {
    /// English name of the country.
    #[schema(example = "Germany")]
    name: &'static str,
    /// Two-letter country code.
    #[schema(example = "DE")]
    country_code: &'static str,
}

impl From<Country> for CountryAnswer {
    fn from(country: Country) -> Self {
        Self { name: country.name, country_code: country.code }
    }
}

impl Record for CountryAnswer {
    const COLUMNS: &'static [&'static str] = &["name", "countryCode"];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self.name), Cow::Borrowed(self.country_code)]
    }
}
