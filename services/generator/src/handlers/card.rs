//! `/api/Card`.

use std::sync::LazyLock;

use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::{After, Caller};
use jiff::civil::{Date, date};

use super::input::Input;
use super::reply::{self, List, Unchanged};
use crate::error::Failures;
use crate::model::card::{CARD_TYPES, Card};
use crate::state::State;
use crate::wire::{CardAnswer, CardParameters, CardRequest};

/// The day that a seeded card is made on unless the caller names another.
const SEEDED_DAY: Date = date(2030, 1, 1);

/// Make a payment card
///
/// Number, holder, expiry, code and PIN fit together; none of them belongs to anybody.
#[utoipa::path(
    operation_id = "generateCard",
    tag = "Card",
    params(CardParameters),
    responses(
        (status = 200, body = CardAnswer, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Ref-Date" = String, description = "Day that the expiry was counted from"),
            ("X-Data-Version" = String, description = "Version of algorithm and data"))),
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
    let card = Card::generate(&mut seed.random("generateCard", ""), input.card_type, day);
    let response = reply::generated(&seed, reply::json(&CardAnswer::from(card)));
    Ok(reply::with_reference_day(response, day))
}

/// List the card brands
#[utoipa::path(
    operation_id = "listCardTypes",
    tag = "Card",
    responses(
        (status = 200, body = Vec<String>, headers(
            ("ETag" = String, description = "Changes with the list"),
            ("Cache-Control" = String, description = "An hour, for everybody")),
            example = json!(["Visa", "VisaElectron", "Mastercard"])),
        Unchanged,
        Failures
    )
)]
#[get("/api/Card/Types")]
pub async fn list_card_types(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static TYPES: LazyLock<List> =
        LazyLock::new(|| List::of(&CARD_TYPES.iter().map(|kind| kind.name).collect::<Vec<_>>()));
    TYPES.answer(&request)
}
