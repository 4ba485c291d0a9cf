//! Cards on the wire.

use jiff::civil::Date;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Draw, Input, Operation};
use crate::model::CardType;
use crate::model::card::{self, Card};

/// Parameters of `GET /api/Card`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CardParams {
    /// Brand as `/api/Card/Types` lists it; case, blanks, `-` and `_` do not count. Without it the
    /// common brands come most often.
    #[param(rename = "type", value_type = Option<String>, example = "Visa")]
    pub kind: Option<&'static CardType>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
    /// Day that the expiry is counted from, 1000-01-01 to 9000-12-31: with a seed 2030-01-01, else
    /// today.
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    pub day: Option<Date>,
}

impl Operation for CardParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let kind = input.value("type");
        Some(Self {
            kind: kind
                .and_then(|name| input.known("type", name, card::find(name), "/api/Card/Types")),
            draw: input.draw(),
            day: input.reference_day(),
        })
    }
}

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
