//! `/api/Card`.

use std::sync::LazyLock;

use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::Caller;
use jiff::civil::{Date, date};

use super::Ask;
use super::answer::{self, List, Unchanged};
use crate::error::Failures;
use crate::model::CARD_TYPES;
use crate::model::card::Card;
use crate::state::State;
use crate::wire::{CardAnswer, CardParams};

/// The day that a seeded card is made on unless the caller names another.
const SEEDED_DAY: Date = date(2030, 1, 1);

const X_REF_DATE: HeaderName = HeaderName::from_static("x-ref-date");

/// Make a payment card
///
/// Number, holder, expiry, code and PIN fit together; none of them belongs to anybody.
#[utoipa::path(
    operation_id = "generateCard",
    tag = "Card",
    params(CardParams),
    responses(
        (status = 200, body = CardAnswer, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Ref-Date" = String, description = "Day that the expiry was counted from"),
            ("X-Data-Version" = String, description = "Version of algorithm and data"))),
        Failures
    )
)]
#[get("/api/Card")]
pub async fn generate(ask: Ask<CardParams>, state: Data<State>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let usual = || if ask.draw.seed.is_some() { SEEDED_DAY } else { state.today() };
    let day = ask.day.unwrap_or_else(usual);
    let card = Card::draw(&mut seed.random("generateCard", ""), ask.kind, day);
    let mut response = answer::drawn(&seed, answer::json(&CardAnswer::from(card)));
    if let Ok(value) = HeaderValue::from_str(&day.to_string()) {
        response.headers_mut().insert(X_REF_DATE, value);
    }
    Ok(response)
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
pub async fn types(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static TYPES: LazyLock<List> =
        LazyLock::new(|| List::of(&CARD_TYPES.iter().map(|kind| kind.name).collect::<Vec<_>>()));
    TYPES.answer(&request)
}
