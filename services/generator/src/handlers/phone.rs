//! `/api/Phone`.

use std::convert::Infallible;
use std::sync::LazyLock;

use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::Caller;

use super::Ask;
use super::answer::{self, Array, List, Unchanged};
use crate::error::Failures;
use crate::model::{country, imei, phone};
use crate::wire::{CountryAnswer, ImeiParams, PhoneAnswer, PhoneParams, PhoneValidateParams};

/// Make telephone numbers
///
/// Valid in the region itself; seven of ten are mobile where that can be told.
#[utoipa::path(
    operation_id = "generatePhoneNumbers",
    tag = "Phone",
    params(PhoneParams),
    responses(
        (status = 200, body = Vec<String>, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!(["+4917425442464", "+4917037102949"])),
        Failures
    )
)]
#[get("/api/Phone/Generate")]
pub async fn generate(ask: Ask<PhoneParams>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let mut random = seed.random("generatePhoneNumbers", "");
    let mut numbers = Array::new(ask.quantity as usize, 15);
    for _ in 0..ask.quantity {
        let written = numbers.push(|out| ask.region.write(&mut random, out));
        written.map_err(|cause| ask.broken(cause))?;
    }
    Ok(answer::drawn(&seed, numbers.finish()))
}

/// Make device identifiers
#[utoipa::path(
    operation_id = "generateImeis",
    tag = "Phone",
    params(ImeiParams),
    responses(
        (status = 200, body = Vec<String>, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!(["996153791192928"])),
        Failures
    )
)]
#[get("/api/Phone/IMEI")]
pub async fn imeis(ask: Ask<ImeiParams>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let mut random = seed.random("generateImeis", "");
    let mut numbers = Array::new(ask.quantity as usize, 15);
    for _ in 0..ask.quantity {
        let Ok(()) = numbers.push(|out| {
            imei::write(&mut random, out);
            Ok::<(), Infallible>(())
        });
    }
    Ok(answer::drawn(&seed, numbers.finish()))
}

/// Check a telephone number
#[utoipa::path(
    operation_id = "validatePhoneNumber",
    tag = "Phone",
    params(PhoneValidateParams),
    responses((status = 200, body = PhoneAnswer), Failures)
)]
#[get("/api/Phone/Validate")]
pub async fn validate(ask: Ask<PhoneValidateParams>) -> HttpResponse {
    let judgement = phone::judge(&ask.telephone, ask.region);
    answer::fresh(answer::json(&PhoneAnswer::from(judgement)))
}

/// List the countries of telephone numbers
#[utoipa::path(
    operation_id = "listPhoneCountries",
    tag = "Phone",
    responses(
        (status = 200, body = Vec<CountryAnswer>, headers(
            ("ETag" = String, description = "Changes with the list"),
            ("Cache-Control" = String, description = "An hour, for everybody"))),
        Unchanged,
        Failures
    )
)]
#[get("/api/Phone/Countries")]
pub async fn countries(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static COUNTRIES: LazyLock<List> = LazyLock::new(|| {
        let countries = country::named(phone::all().iter().map(|region| region.code));
        List::of(&countries.into_iter().map(CountryAnswer::from).collect::<Vec<_>>())
    });
    COUNTRIES.answer(&request)
}
