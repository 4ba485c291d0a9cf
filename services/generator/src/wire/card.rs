//! Cards on the wire.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::reject;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::request::{Request, complete, seeded};
use super::rules::{BETWEEN, DATE};
use super::values::{listed, seed};
use crate::model::Seed;
use crate::model::card::{self, Card, CardType};

/// Parameters of `GET /api/Card`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CardParameters {
    /// Brand as `/api/Card/Types` lists it; case, blanks, `-` and `_` do not count. Without it the
    /// common brands come most often.
    #[serde(rename = "type", default, deserialize_with = "brand")]
    #[param(rename = "type", value_type = Option<String>, example = "Visa")]
    card_type: Option<&'static CardType>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[serde(default, deserialize_with = "seed")]
    #[param(value_type = Option<String>, min_length = 1, max_length = 64)]
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

fn reference_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
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
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// Day that the expiry is counted from.
    pub reference_day: Option<Date>,
}

impl Request for CardRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |CardParameters { card_type, seed, reference_day }| {
            Some(Self { card_type, seed, reference_day })
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

impl From<Card> for CardAnswer {
    fn from(card: Card) -> Self {
        Self {
            kind: card.kind.name,
            date: format!("{}T00:00:00", card.expiry),
            full_name: card.holder,
            card_number: card.number,
            cvv: card.code,
            pin: card.pin,
        }
    }
}
