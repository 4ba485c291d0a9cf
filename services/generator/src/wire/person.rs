//! Requests and responses for complete personal profiles.

use std::borrow::Cow;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use shell::Violation;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::address::AddressAnswer;
use super::card::{CardAnswer, reference_day};
use super::identity::{SexName, birth};
use super::name::culture;
use super::record::Record;
use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::rules::BETWEEN;
use super::spelling::Spelling;
use crate::model::Seed;
use crate::model::names::{self, Culture};
use crate::model::numbers::{FIRST_BIRTH, LAST_BIRTH, Sex};
use crate::model::person::{Limits, Person, possible_days};

/// Parameters of `GET /api/Person`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PersonParameters {
    /// Culture (language and country) from `/api/Name/Cultures`.
    #[serde(default, deserialize_with = "culture")]
    #[param(value_type = Option<String>, max_length = 100, pattern = "^([A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2})?$", default = "en_US", example = "sv")]
    culture: Option<&'static Culture>,
    /// Number of values: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    /// Without it, the response is a single value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Reference date for ages and card expiry dates, as `YYYY-MM-DD`. People are born from
    /// 1900-01-01 to 2099-12-31, so the possible dates depend on the ages. Default: 2030-01-01 with a
    /// seed, otherwise today.
    #[serde(rename = "refDate", default, deserialize_with = "reference_day")]
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    reference_day: Option<Date>,
    /// Minimum age in years on the reference date. Default: 18, or 0 if `maxAge` is below 18.
    #[serde(rename = "minAge", default)]
    #[param(rename = "minAge", value_type = Option<i32>, minimum = 0, maximum = 99)]
    #[validate(range(min = 0, max = 99))]
    min_age: Option<i32>,
    /// Maximum age in years on the reference date. Default: 89, or `minAge` if that is higher.
    #[serde(rename = "maxAge", default)]
    #[param(rename = "maxAge", value_type = Option<i32>, minimum = 0, maximum = 99)]
    #[validate(range(min = 0, max = 99))]
    max_age: Option<i32>,
    /// Sex. Default: random, with equal probability.
    #[param(value_type = Option<SexName>, inline)]
    sex: Option<SexName>,
    /// Birth date, from 1900-01-01 to the reference date, but not after 2099-12-31. Overrides
    /// `minAge` and `maxAge`.
    #[serde(rename = "birthDate", default, deserialize_with = "birth")]
    #[param(rename = "birthDate", value_type = Option<String>, format = Date)]
    birth_date: Option<Date>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
}

/// A request for one or more people.
pub struct PersonRequest {
    /// The culture, `en_US` by default.
    pub culture: &'static Culture,
    /// The length of the list, or `None` for a single value outside a list.
    pub quantity: Option<usize>,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
    /// The reference date for ages and card expiry dates.
    pub reference_day: Option<Date>,
    /// The requested ages, sex and birth date.
    pub limits: Limits,
}

impl Request for PersonRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        let request = complete(query, |parameters: PersonParameters| {
            let age = |years: Option<i32>| years.and_then(|years| years.try_into().ok());
            Some(Self {
                limits: Limits {
                    least: age(parameters.min_age),
                    most: age(parameters.max_age),
                    sex: parameters.sex.map(Sex::from),
                    born: parameters.birth_date,
                },
                culture: parameters.culture.unwrap_or_else(names::american),
                quantity: parameters.quantity.and_then(|quantity| quantity.try_into().ok()),
                seed: parameters.seed,
                extent: Extent::new(parameters.offset, parameters.bom),
                reference_day: parameters.reference_day,
            })
        })?;
        match request.limits {
            Limits { least: Some(least), most: Some(most), .. } if least > most => {
                Err(vec![Violation::new("minAge", BETWEEN, format!("0 and {most}"))])
            }
            _ => Ok(request),
        }
    }
}

impl PersonRequest {
    /// Returns a violation if the birth date isn't allowed, or if none of the requested ages is
    /// possible on the reference date.
    pub fn date_violation(&self, day: Date) -> Option<Violation> {
        let (field, first, last, date) = match self.limits {
            Limits { born: Some(born), .. } => {
                ("birthDate", FIRST_BIRTH, day.min(LAST_BIRTH), born)
            }
            Limits { least, most, .. } => {
                let (first, last) = possible_days(least, most);
                ("refDate", first, last, day)
            }
        };
        (!(first..=last).contains(&date))
            .then(|| Violation::new(field, BETWEEN, format!("{first} and {last}")))
    }
}

seeded!(PersonRequest);
series!(PersonRequest, |it| it.quantity);

/// A person whose details are consistent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonAnswer {
    /// Culture code.
    #[schema(example = "sv")]
    culture: &'static str,
    sex: SexName,
    /// Given name.
    given_name: String,
    /// Surname, or both surnames if the culture uses two.
    surname: String,
    /// Given name and surname, in the culture's order.
    full_name: String,
    /// Full name in plain Latin letters, romanized as in the country's passports.
    #[schema(example = "Ellen Brandt")]
    name_latin: String,
    /// Reading of the full name in katakana, for Japanese names; otherwise null.
    name_kana: Option<String>,
    /// Birth date, consistent with the requested age on the reference date.
    #[schema(example = "1984-02-29", format = Date)]
    birth_date: String,
    /// Home address.
    address: AddressAnswer,
    /// Telephone number from the person's country, in E.164 format. It may exist: do not call it.
    #[schema(example = "+46701740605")]
    phone: String,
    /// Email address at a domain that is reserved for examples. Unique within a list.
    #[schema(example = "ellen.brandt@example.com")]
    email: String,
    /// Username. Unique within a list.
    #[schema(example = "ellenbrandt")]
    username: String,
    /// National identity number. If it encodes the birth date, sex or address, it matches them. It
    /// may exist. Null in countries whose numbers are not supported: AM, AZ, BD, DZ, GE, GH, HK,
    /// HU, IR, KE, LU, MK, NG, NP, PS, RS, SA, SN, TW, UZ, VN.
    national_number: Option<String>,
    /// IBAN of a bank account in the country; null if the country does not use IBANs. The account
    /// may exist: do not send money to it.
    iban: Option<String>,
    /// Payment card, issued to the person's name in Latin letters.
    card: CardAnswer,
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
            name_latin: person.name.latin,
            name_kana: person.name.kana,
            birth_date: person.born.to_string(),
            address: AddressAnswer::new(person.address, person.culture),
            phone: person.phone,
            email: person.email,
            username: person.username,
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
        "nameLatin",
        "nameKana",
        "username",
        "street",
        "houseNumber",
        "unit",
        "district",
        "country",
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
        cells.extend([
            (&self.name_latin).into(),
            optional(&self.name_kana).into(),
            (&self.username).into(),
            optional(&address.street).into(),
            optional(&address.house_number).into(),
            optional(&address.unit).into(),
            optional(&address.district).into(),
            address.country.into(),
        ]);
        cells
    }
}
