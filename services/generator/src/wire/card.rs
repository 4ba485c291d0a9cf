//! Cards on the wire.

use jiff::civil::Date;
use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::reject;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::record::Record;
use super::request::{Request, complete, seeded};
use super::rules::{BETWEEN, DATE};
use super::spelling::Spelling;
use super::values::{filled, listed};
use crate::model::Seed;
use crate::model::card::{self, Card, CardFault, CardType};

/// Parameters of `GET /api/Card`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CardParameters {
    /// Brand as `/api/Card/Types` lists it; case, blanks, `-` and `_` do not count. Without it the
    /// common brands come most often.
    #[serde(rename = "type", default, deserialize_with = "brand")]
    #[param(rename = "type", value_type = Option<String>, max_length = 100, pattern = "^[A-Za-z0-9 ._-]*$", example = "Visa")]
    card_type: Option<&'static CardType>,
    /// How many; without it the answer is one value instead of a list.
    #[param(value_type = Option<i32>, minimum = 1, maximum = 1000)]
    #[validate(range(min = 1, max = 1000))]
    quantity: Option<i32>,
    /// Whether the number stands without blanks (`plain`, unless given) or in groups, as it is printed.
    #[param(value_type = Option<Spelling>, inline)]
    format: Option<Spelling>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Day that the expiry is counted from, 1000-01-01 to 9000-12-31: with a seed 2030-01-01, else
    /// today.
    #[serde(rename = "refDate", default, deserialize_with = "reference_day")]
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    reference_day: Option<Date>,
}

fn brand<'de, D>(deserializer: D) -> Result<Option<&'static CardType>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(card::find(<&str>::deserialize(deserializer)?), "/api/Card/Types")
}

/// The day that an expiry is counted from.
pub fn reference_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = <&str>::deserialize(deserializer)?.trim();
    let day = text.parse::<Date>().ok().filter(|day| day.to_string() == text);
    match day {
        None => Err(reject(DATE, "")),
        Some(day) if !(1000..=9000).contains(&day.year()) => {
            Err(reject(BETWEEN, "1000-01-01 and 9000-12-31"))
        }
        Some(day) => Ok(Some(day)),
    }
}

/// A request for a card.
pub struct CardRequest {
    /// Brand; without it the common ones come most often.
    pub card_type: Option<&'static CardType>,
    /// How many, where a list is wanted.
    pub quantity: Option<usize>,
    /// How the number is spelled.
    pub spelling: Spelling,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// Day that the expiry is counted from.
    pub reference_day: Option<Date>,
}

impl Request for CardRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |parameters: CardParameters| {
            Some(Self {
                card_type: parameters.card_type,
                quantity: parameters.quantity.and_then(|quantity| quantity.try_into().ok()),
                spelling: parameters.format.unwrap_or_default(),
                seed: parameters.seed,
                reference_day: parameters.reference_day,
            })
        })
    }
}

seeded!(CardRequest);

/// A made-up card.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"type": "Visa", "date": "2029-03-01T00:00:00", "fullName": "Ada Marsh", "cardNumber": "4539578763621486", "cvv": "123", "pin": 4821}))]
pub struct CardAnswer {
    /// Brand.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "Visa")]
    kind: &'static str,
    /// First instant of the last valid month.
    #[schema(example = "2032-03-01T00:00:00")]
    date: String,
    /// Holder.
    full_name: String,
    /// Digits only, with a valid check digit.
    card_number: String,
    /// Printed code.
    cvv: String,
    /// Four digits, the first not 0.
    #[schema(minimum = 1000, maximum = 9999)]
    pin: u16,
}

impl CardAnswer {
    /// A card with its number in a spelling.
    pub fn new(card: Card, spelling: Spelling) -> Self {
        Self {
            kind: card.kind.name,
            date: format!("{}T00:00:00", card.expiry),
            full_name: card.holder,
            card_number: spelling.apply(card.number, card::grouped),
            cvv: card.code,
            pin: card.pin,
        }
    }
}

impl Record for CardAnswer {
    const COLUMNS: &'static [&'static str] =
        &["type", "date", "fullName", "cardNumber", "cvv", "pin"];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        let texts = [self.kind, &self.date, &self.full_name, &self.card_number, &self.cvv];
        let pin = Cow::Owned(self.pin.to_string());
        texts.into_iter().map(Cow::Borrowed).chain([pin]).collect()
    }
}

/// Parameters of `GET /api/Card/Validate`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CardValidationParameters {
    /// Number with or without blanks and hyphens.
    #[serde(rename = "cardNumber", default, deserialize_with = "number")]
    #[param(
        rename = "cardNumber",
        value_type = String,
        required = true,
        min_length = 1,
        max_length = 50,
        pattern = r"[^\s\u0085]",
        example = "4111 1111 1111 1111"
    )]
    #[validate(required)]
    card_number: Option<String>,
    /// Brand that it must be of, as `/api/Card/Types` lists it.
    #[serde(rename = "type", default, deserialize_with = "brand")]
    #[param(rename = "type", value_type = Option<String>, max_length = 100, pattern = "^[A-Za-z0-9 ._-]*$", example = "Visa")]
    card_type: Option<&'static CardType>,
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    filled(deserializer, 50).map(|text| Some(text.to_owned()))
}

/// A card number to be checked.
pub struct CardValidationRequest {
    /// The number as people write it.
    pub number: String,
    /// Brand that it must be of.
    pub brand: Option<&'static CardType>,
}

impl Request for CardValidationRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |CardValidationParameters { card_number, card_type }| {
            Some(Self { number: card_number?, brand: card_type })
        })
    }
}

/// Whether a card number is right.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "errorMessage": null, "types": ["Visa"]}))]
pub struct CardValidationAnswer {
    /// Whether the length, the beginning and the check digit are those of a brand.
    is_valid: bool,
    /// What is wrong; null for a valid number.
    error_message: Option<String>,
    /// Brands that the number may be of; some share a beginning.
    types: Vec<&'static str>,
}

impl From<Result<Vec<&'static CardType>, CardFault>> for CardValidationAnswer {
    fn from(outcome: Result<Vec<&'static CardType>, CardFault>) -> Self {
        let (types, error_message) = match outcome {
            Ok(types) => (types.iter().map(|brand| brand.name).collect(), None),
            Err(fault) => (Vec::new(), Some(fault.to_string())),
        };
        Self { is_valid: error_message.is_none(), error_message, types }
    }
}
