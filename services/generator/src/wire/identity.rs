//! Requests for tax and identity numbers.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::reject;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::rules::{BETWEEN, DATE, UNSUPPORTED};
use super::social::{IdType, schemes};
use super::values::limited;
use crate::model::Seed;
use crate::model::numbers::{FIRST_BIRTH, Kind, Schemes, Sex, Wanted};

const DEFAULT_COUNTRY: &str = "US";

/// Sex, as encoded in identity numbers.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Sex)]
pub enum SexName {
    /// Female.
    Female,
    /// Male.
    Male,
}

impl From<SexName> for Sex {
    fn from(name: SexName) -> Self {
        match name {
            SexName::Female => Self::Female,
            SexName::Male => Self::Male,
        }
    }
}

/// Parameters of `GET /api/SocialNumber`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IdentityParameters {
    /// Two-letter country code.
    #[serde(default, deserialize_with = "country")]
    #[param(value_type = Option<String>, max_length = 2, pattern = "^([A-Za-z]{2})?$", default = "US", example = "SE")]
    country: Option<String>,
    /// Kind of number: `SSN` (default) for people, `VAT` for businesses.
    #[serde(rename = "idType", default)]
    #[param(rename = "idType", value_type = Option<IdType>, inline)]
    id_type: Option<IdType>,
    /// Number of values: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    /// Without it, the response is a single value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// Birth date for numbers that encode it, from 1900-01-01 to today. Default: a random date that
    /// makes the person 0 to 99 years old, chosen uniformly.
    #[serde(rename = "birthDate", default, deserialize_with = "birth")]
    #[param(rename = "birthDate", value_type = Option<String>, format = Date)]
    birth_date: Option<Date>,
    /// Sex for numbers that encode it. Default: random.
    #[param(value_type = Option<SexName>, inline)]
    sex: Option<SexName>,
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

fn country<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    limited(deserializer, 2).map(|text| Some(text.to_owned()))
}

/// Deserializes a birth date.
pub fn birth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = <&str>::deserialize(deserializer)?.trim();
    let day = text.parse::<Date>().ok().filter(|day| day.to_string() == text);
    day.map(Some).ok_or_else(|| reject(DATE, ""))
}

/// A request for one or more tax or identity numbers.
pub struct IdentityRequest {
    /// The country's schemes.
    pub schemes: Schemes,
    /// The length of the list, or `None` for a single value outside a list.
    pub quantity: Option<usize>,
    /// The requested birth date, sex and place of birth.
    pub wanted: Wanted,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for IdentityRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        let parameters: IdentityParameters = complete(query, Some)?;
        let kind = parameters.id_type.map_or(Kind::Person, Kind::from);
        let country = parameters.country.as_deref().unwrap_or(DEFAULT_COUNTRY);
        let Some(schemes) = schemes(country, Some(kind)) else {
            let sent = Some(country.into());
            let violation = Violation::new("country", UNSUPPORTED, "");
            return Err(vec![Violation { sent, ..violation }]);
        };
        Ok(Self {
            schemes,
            quantity: parameters.quantity.and_then(|quantity| quantity.try_into().ok()),
            wanted: Wanted {
                born: parameters.birth_date,
                sex: parameters.sex.map(Sex::from),
                place: None,
            },
            seed: parameters.seed,
            extent: Extent::new(parameters.offset, parameters.bom),
        })
    }
}

impl IdentityRequest {
    /// Returns a violation if the birth date isn't allowed as of `today`.
    pub fn birth_violation(&self, today: Date) -> Option<Violation> {
        let born = self.wanted.born.filter(|born| !(FIRST_BIRTH..=today).contains(born));
        born.map(|_| Violation::new("birthDate", BETWEEN, format!("{FIRST_BIRTH} and {today}")))
    }
}

seeded!(IdentityRequest);
series!(IdentityRequest, |it| it.quantity);
