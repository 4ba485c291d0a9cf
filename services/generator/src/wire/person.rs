//! Whole persons on the wire.

use std::borrow::Cow;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use shell::Violation;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::card::{CardAnswer, reference_day};
use super::identity::SexName;
use super::name::culture;
use super::record::Record;
use super::request::{Request, complete, seeded};
use super::spelling::Spelling;
use crate::model::Seed;
use crate::model::names::{self, Culture};
use crate::model::numbers::Sex;
use crate::model::person::Person;

/// Parameters of `GET /api/Person`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PersonParameters {
    /// Language and country as `/api/Name/Cultures` lists them.
    #[serde(default, deserialize_with = "culture")]
    #[param(value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en_US", example = "sv")]
    culture: Option<&'static Culture>,
    /// How many; without it the answer is one value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = 1000))]
    quantity: Option<i32>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Day that the expiry of cards is counted from, `YYYY-MM-DD`; today, or 2030-01-01 with a seed.
    #[serde(rename = "refDate", default, deserialize_with = "reference_day")]
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    reference_day: Option<Date>,
}

/// A request for persons.
pub struct PersonRequest {
    /// Culture; `en_US` unless the caller names another.
    pub culture: &'static Culture,
    /// How many, where a list is wanted.
    pub quantity: Option<usize>,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// Day that the expiry of cards is counted from.
    pub reference_day: Option<Date>,
}

impl Request for PersonRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |parameters: PersonParameters| {
            Some(Self {
                culture: parameters.culture.unwrap_or_else(names::american),
                quantity: parameters.quantity.and_then(|quantity| quantity.try_into().ok()),
                seed: parameters.seed,
                reference_day: parameters.reference_day,
            })
        })
    }
}

seeded!(PersonRequest);

/// A person whose parts agree with each other.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonAnswer {
    /// Code of the culture.
    #[schema(example = "sv")]
    culture: &'static str,
    sex: SexName,
    /// Given name.
    given_name: String,
    /// Surname; both where the culture bears two.
    surname: String,
    /// Both in the order of the culture.
    full_name: String,
    /// Day of birth; 18 to 90 years ago.
    #[schema(example = "1984-02-29", format = Date)]
    birth_date: String,
    /// Where the person lives.
    address: AddressAnswer,
    /// Telephone number of the country, E.164. It may exist: do not call it.
    #[schema(example = "+46701740605")]
    phone: String,
    /// At a domain that is reserved for examples.
    #[schema(example = "ellen.brandt@example.com")]
    email: String,
    /// Number that the country knows its people by, with birth and sex where it tells them; null where
    /// its rule is not known here. It may exist.
    national_number: Option<String>,
    /// Account in the country; null where accounts have no IBAN. It may exist: do not pay to it.
    iban: Option<String>,
    /// Card in the name of the person.
    card: CardAnswer,
}

/// An address in parts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressAnswer {
    /// The whole address on one line.
    line: String,
    /// Town.
    city: String,
    /// State or province, where addresses name one.
    region: Option<String>,
    /// Postcode, where there are any.
    postcode: Option<String>,
    /// Two letters.
    #[schema(example = "SE")]
    country_code: &'static str,
}

impl From<Person> for PersonAnswer {
    fn from(person: Person) -> Self {
        let sex = match person.sex {
            Sex::Female => SexName::Female,
            Sex::Male => SexName::Male,
        };
        Self {
            culture: person.culture.code,
            sex,
            given_name: person.name.given,
            surname: person.name.surname,
            full_name: person.name.full,
            birth_date: person.born.to_string(),
            address: AddressAnswer {
                line: person.address.line,
                city: person.address.city,
                region: person.address.region,
                postcode: person.address.postcode,
                country_code: person.culture.country,
            },
            phone: person.phone,
            email: person.email,
            national_number: person.national_number,
            iban: person.iban,
            card: CardAnswer::new(person.card, Spelling::default()),
        }
    }
}

impl Record for PersonAnswer {
    const COLUMNS: &'static [&'static str] = &[
        "culture",
        "sex",
        "givenName",
        "surname",
        "fullName",
        "birthDate",
        "address",
        "city",
        "region",
        "postcode",
        "countryCode",
        "phone",
        "email",
        "nationalNumber",
        "iban",
        "cardType",
        "cardDate",
        "cardFullName",
        "cardNumber",
        "cvv",
        "pin",
    ];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        let optional = |text: &'_ Option<String>| text.as_deref().unwrap_or_default().to_owned();
        let address = &self.address;
        let sex = match self.sex {
            SexName::Female => "female",
            SexName::Male => "male",
        };
        let mut cells: Vec<Cow<'_, str>> = vec![
            self.culture.into(),
            sex.into(),
            (&self.given_name).into(),
            (&self.surname).into(),
            (&self.full_name).into(),
            (&self.birth_date).into(),
            (&address.line).into(),
            (&address.city).into(),
            optional(&address.region).into(),
            optional(&address.postcode).into(),
            address.country_code.into(),
            (&self.phone).into(),
            (&self.email).into(),
            optional(&self.national_number).into(),
            optional(&self.iban).into(),
        ];
        cells.extend(self.card.cells());
        cells
    }
}
