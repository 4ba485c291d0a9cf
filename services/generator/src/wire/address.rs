//! Address requests and responses.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shell::Violation;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::record::Record;
use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::values::{LONGEST_NAME, limited, listed};
use crate::model::Seed;
use crate::model::names::{self, Address, Culture};

/// Parameters of `GET /api/Misc/Random-Address`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AddressParameters {
    /// Number of addresses: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    #[param(value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = MOST))]
    number: Option<i32>,
    /// Culture (language and country) from `/api/Misc/Cultures`.
    #[serde(default, deserialize_with = "culture")]
    #[param(value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en", example = "de")]
    culture: Option<&'static Culture>,
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

/// Deserializes one of the cultures listed at `/api/Misc/Cultures`.
fn culture<'de, D>(deserializer: D) -> Result<Option<&'static Culture>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(names::find(limited(deserializer, LONGEST_NAME)?), "/api/Misc/Cultures")
}

/// A request for addresses.
pub struct AddressRequest {
    /// The number of addresses.
    pub number: usize,
    /// The culture, `en` by default.
    pub culture: &'static Culture,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for AddressRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("number", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |AddressParameters { number, culture, seed, offset, bom }| {
            let culture = culture.unwrap_or_else(names::english);
            Some(Self {
                number: number?.try_into().ok()?,
                culture,
                seed,
                extent: Extent::new(offset, bom),
            })
        })
    }
}

seeded!(AddressRequest);
series!(AddressRequest, |it| Some(it.number));

/// The parts of an address.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressAnswer {
    /// The complete address on a single line.
    pub(super) line: String,
    /// Town.
    pub(super) city: String,
    /// State or province; null if the address does not include one.
    pub(super) region: Option<String>,
    /// Postcode; null if the address does not include one.
    pub(super) postcode: Option<String>,
    /// Two-letter country code.
    #[schema(example = "SE")]
    pub(super) country_code: &'static str,
    /// Street.
    pub(super) street: Option<String>,
    /// House number, including its letter or staircase.
    pub(super) house_number: Option<String>,
    /// Apartment, floor or door.
    pub(super) unit: Option<String>,
    /// District within the town.
    pub(super) district: Option<String>,
    /// English name of the country.
    #[schema(example = "Sweden")]
    pub(super) country: &'static str,
}

impl AddressAnswer {
    /// Creates the response for an address in a culture.
    pub fn new(address: Address, culture: &Culture) -> Self {
        let part = |text: String| Some(text).filter(|text| !text.is_empty());
        Self {
            line: address.line,
            city: address.city,
            region: part(address.region),
            postcode: part(address.postcode),
            country_code: culture.country,
            street: part(address.street),
            house_number: part(address.house_number),
            unit: part(address.unit),
            district: part(address.district),
            country: culture.country_name,
        }
    }
}

/// An address in a list. In JSON it is a single line, but in a table it has separate columns.
pub struct AddressRow(pub AddressAnswer);

impl Serialize for AddressRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.line)
    }
}

impl Record for AddressRow {
    const COLUMNS: &'static [&'static str] = &[
        "address",
        "street",
        "houseNumber",
        "unit",
        "district",
        "postcode",
        "city",
        "region",
        "country",
        "countryCode",
    ];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        let AddressAnswer { street, house_number, unit, district, postcode, region, .. } = &self.0;
        let optional = |text: &'_ Option<String>| text.clone().unwrap_or_default().into();
        vec![
            (&self.0.line).into(),
            optional(street),
            optional(house_number),
            optional(unit),
            optional(district),
            optional(postcode),
            (&self.0.city).into(),
            optional(region),
            self.0.country.into(),
            self.0.country_code.into(),
        ]
    }
}
