//! `/api/Card`.

use std::sync::LazyLock;

use super::input::Input;
use super::reply::{self, List, Unchanged};
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::card::{self, CARD_TYPES, Card};
use crate::model::{Random, SEEDED_DAY};
use crate::state::State;
use crate::wire::{
    CardAnswer, CardParameters, CardRequest, CardValidationAnswer, CardValidationParameters,
    CardValidationRequest, OneOrSeveral, TypeName,
};
use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::{After, Caller};

/// Generate a payment card
///
/// The number, cardholder, expiry date, security code and PIN are consistent. **The number is in a
/// real issuer's range and may exist: do not pay with it.** With `quantity`, the response is a
/// list.
#[utoipa::path(
    operation_id = "generateCard",
    tag = "Card",
    params(CardParameters),
    responses(
        (status = 200, body = OneOrSeveral<CardAnswer>,
            headers(("X-Ref-Date" = String, description = "Reference date of the expiry date")),
            example = json!({
                "type": "Visa", "date": "2029-03-01T00:00:00", "fullName": "Ada Marsh",
                "cardNumber": "4539578763621486", "cvv": "123", "pin": 4821
            })),
        Failures
    )
)]
#[get("/api/Card")]
pub async fn generate_card(
    After(input): After<Input<CardRequest>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let usual = || if input.seed.is_some() { SEEDED_DAY } else { state.today() };
    let day = input.reference_day.unwrap_or_else(usual);
    let random = seed.random("generateCard", "");
    let (brand, spelling) = (input.card_type, input.spelling);
    let make =
        move |_, random: &mut Random| CardAnswer::new(Card::generate(random, brand, day), spelling);
    let response = input.records(Kind::Card, &seed, random, make).await?;
    Ok(reply::with_reference_day(response, day))
}

/// Check a card number
///
/// Checks whether the length, prefix and check digit match a brand. Does not check whether the card
/// exists.
#[utoipa::path(
    operation_id = "validateCard",
    tag = "Card",
    params(CardValidationParameters),
    responses((status = 200, body = CardValidationAnswer), Failures)
)]
#[get("/api/Card/Validate")]
pub async fn validate_card(After(input): After<Input<CardValidationRequest>>) -> HttpResponse {
    let outcome = card::check(&input.number, input.brand);
    reply::fresh(reply::json(&CardValidationAnswer::from(outcome)))
}

/// List card brands
#[utoipa::path(
    operation_id = "listCardTypes",
    tag = "Card",
    responses(
        (status = 200, body = Vec<String>, example = json!(["Visa", "VisaElectron", "Mastercard"])),
        Unchanged,
        Failures
    )
)]
#[get("/api/Card/Types")]
pub async fn list_card_types(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static TYPES: LazyLock<List> = LazyLock::new(|| {
        List::of(&CARD_TYPES.iter().map(|kind| TypeName(kind.name)).collect::<Vec<_>>())
    });
    TYPES.answer(&request)
}
