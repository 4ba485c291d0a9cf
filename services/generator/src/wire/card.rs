//! Card requests and responses.

use jiff::civil::Date;
use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::reject;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::record::Record;
use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::rules::{BETWEEN, DATE};
use super::spelling::Spelling;
use super::values::{listed, text};
use crate::model::Seed;
use crate::model::card::{self, Card, CardFault, CardType};

/// Parameters of `GET /api/Card`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CardParameters {
    /// Card brand from `/api/Card/Types`. Case, spaces, `-` and `_` are ignored. Default: a random
    /// brand, usually a common one.
    #[serde(rename = "type", default, deserialize_with = "brand")]
    #[param(rename = "type", value_type = Option<String>, max_length = 100, pattern = "^[A-Za-z0-9 ._-]*$", example = "Visa")]
    card_type: Option<&'static CardType>,
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
    /// Reference date for the expiry date, 1000-01-01 to 9000-12-31. Default: 2030-01-01 with a
    /// seed, otherwise today.
    #[serde(rename = "refDate", default, deserialize_with = "reference_day")]
    #[param(rename = "refDate", value_type = Option<String>, format = Date)]
    reference_day: Option<Date>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
}

fn brand<'de, D>(deserializer: D) -> Result<Option<&'static CardType>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(card::find(<&str>::deserialize(deserializer)?), "/api/Card/Types")
}

/// Deserializes a reference date.
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

/// A request for one or more cards.
pub struct CardRequest {
    /// The brand. If `None`, a random one is used, usually a common one.
    pub card_type: Option<&'static CardType>,
    /// The length of the list, or `None` for a single value outside a list.
    pub quantity: Option<usize>,
    /// Whether to split the card number into groups.
    pub spelling: Spelling,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
    /// The reference date for expiry dates.
    pub reference_day: Option<Date>,
}

impl Request for CardRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |parameters: CardParameters| {
            Some(Self {
                card_type: parameters.card_type,
                quantity: parameters.quantity.and_then(|quantity| quantity.try_into().ok()),
                spelling: parameters.format.unwrap_or_default(),
                seed: parameters.seed,
                extent: Extent::new(parameters.offset, parameters.bom),
                reference_day: parameters.reference_day,
            })
        })
    }
}

seeded!(CardRequest);
series!(CardRequest, |it| it.quantity);

/// A synthetic payment card.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"type": "Visa", "date": "2029-03-01T00:00:00", "fullName": "Ada Marsh", "cardNumber": "4539578763621486", "cvv": "123", "pin": 4821}))]
pub struct CardAnswer {
    /// Card brand.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "Visa")]
    kind: &'static str,
    /// Start of the expiry month, the last month in which the card is valid.
    #[schema(example = "2032-03-01T00:00:00")]
    date: String,
    /// Cardholder name.
    full_name: String,
    /// Card number with a valid check digit. Digits only, unless `format` is `pretty`.
    card_number: String,
    /// Security code printed on the card.
    cvv: String,
    /// Four-digit PIN that does not start with 0.
    #[schema(minimum = 1000, maximum = 9999)]
    pin: u16,
}

impl CardAnswer {
    /// Creates the response for a card.
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
    /// Card number, with or without spaces and hyphens.
    #[serde(rename = "cardNumber", default, deserialize_with = "text::<_, 50>")]
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
    /// Brand that the number must match, from `/api/Card/Types`. Default: any brand.
    #[serde(rename = "type", default, deserialize_with = "brand")]
    #[param(rename = "type", value_type = Option<String>, max_length = 100, pattern = "^[A-Za-z0-9 ._-]*$", example = "Visa")]
    card_type: Option<&'static CardType>,
}

/// A request to check a card number.
pub struct CardValidationRequest {
    /// The number as entered by the user.
    pub number: String,
    /// The brand that the card must belong to, if any.
    pub brand: Option<&'static CardType>,
}

impl Request for CardValidationRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |CardValidationParameters { card_number, card_type }| {
            Some(Self { number: card_number?, brand: card_type })
        })
    }
}

/// The result of a card number check.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "errorMessage": null, "types": ["Visa"]}))]
pub struct CardValidationAnswer {
    /// Whether the length, prefix and check digit match a brand.
    is_valid: bool,
    /// Error message; null if the number is valid.
    error_message: Option<String>,
    /// Brands that the number matches. Several are possible, because some brands share prefixes.
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
