//! Made tax and identity numbers on the wire.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::reject;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::request::{Request, complete, seeded};
use super::rules::{BETWEEN, DATE, UNSUPPORTED};
use super::social::{IdType, schemes};
use super::values::limited;
use crate::model::Seed;
use crate::model::numbers::{FIRST_BIRTH, Kind, Schemes, Sex, Wanted};

/// The country of numbers where none is named.
const DEFAULT_COUNTRY: &str = "US";

/// Sex, as numbers of persons tell it.
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
    /// Two letters.
    #[serde(default, deserialize_with = "country")]
    #[param(value_type = Option<String>, max_length = 2, pattern = "^([A-Za-z]{2})?$", default = "US", example = "SE")]
    country: Option<String>,
    /// Which kind of number is made: of persons (`SSN`, unless given), or of businesses.
    #[serde(rename = "idType", default)]
    #[param(rename = "idType", value_type = Option<IdType>, inline)]
    id_type: Option<IdType>,
    /// How many; without it the answer is one value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = 1000))]
    quantity: Option<i32>,
    /// Day of birth, from 1900-01-01 to today; counts where the number tells it. Without it persons are
    /// 0 to 99 years old, all years alike.
    #[serde(rename = "birthDate", default, deserialize_with = "birth")]
    #[param(rename = "birthDate", value_type = Option<String>, format = Date)]
    birth_date: Option<Date>,
    /// Sex; counts where the number tells it.
    #[param(value_type = Option<SexName>, inline)]
    sex: Option<SexName>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

fn country<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    limited(deserializer, 2).map(|text| Some(text.to_owned()))
}

fn birth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = <&str>::deserialize(deserializer)?.trim();
    let day = text.parse::<Date>().ok().filter(|day| day.to_string() == text);
    day.map(Some).ok_or_else(|| reject(DATE, ""))
}

/// A request for tax or identity numbers.
pub struct IdentityRequest {
    /// The schemes of the country.
    pub schemes: Schemes,
    /// How many, where a list is wanted.
    pub quantity: Option<usize>,
    /// What is asked of the persons.
    pub wanted: Wanted,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for IdentityRequest {
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
            wanted: Wanted { born: parameters.birth_date, sex: parameters.sex.map(Sex::from) },
            seed: parameters.seed,
        })
    }
}

impl IdentityRequest {
    /// What is wrong with the day of birth on a day.
    pub fn birth_violation(&self, today: Date) -> Option<Violation> {
        let born = self.wanted.born.filter(|born| !(FIRST_BIRTH..=today).contains(born));
        born.map(|_| Violation::new("birthDate", BETWEEN, format!("{FIRST_BIRTH} and {today}")))
    }
}

seeded!(IdentityRequest);
