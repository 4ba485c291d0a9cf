//! `/api/Phone`.

use std::convert::Infallible;
use std::sync::LazyLock;

use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::{After, Caller};

use super::input::Input;
use super::reply::{self, Array, List, Unchanged};
use crate::error::Failures;
use crate::model::{country, imei, phone};
use crate::wire::{
    CountryAnswer, ImeiParameters, ImeiRequest, PhoneAnswer, PhoneParameters, PhoneRequest,
    PhoneValidationParameters, PhoneValidationRequest,
};

/// Make telephone numbers
///
/// Valid in the region itself; seven of ten are mobile where that can be told.
#[utoipa::path(
    operation_id = "generatePhoneNumbers",
    tag = "Phone",
    params(PhoneParameters),
    responses(
        (status = 200, body = Vec<String>, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!(["+4917425442464", "+4917037102949"])),
        Failures
    )
)]
#[get("/api/Phone/Generate")]
pub async fn generate_phone_numbers(
    After(input): After<Input<PhoneRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut random = seed.random("generatePhoneNumbers", "");
    let mut numbers = Array::new(input.quantity, 15);
    for _ in 0..input.quantity {
        let written = numbers.push(|out| input.region.write(&mut random, out));
        written.map_err(|cause| input.error(cause))?;
    }
    Ok(reply::generated(&seed, numbers.finish()))
}

/// Make device identifiers
#[utoipa::path(
    operation_id = "generateImeis",
    tag = "Phone",
    params(ImeiParameters),
    responses(
        (status = 200, body = Vec<String>, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!(["996153791192928"])),
        Failures
    )
)]
#[get("/api/Phone/IMEI")]
pub async fn generate_imeis(
    After(input): After<Input<ImeiRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut random = seed.random("generateImeis", "");
    let mut numbers = Array::new(input.quantity, 15);
    for _ in 0..input.quantity {
        let Ok(()) = numbers.push(|out| {
            imei::write(&mut random, out);
            Ok::<(), Infallible>(())
        });
    }
    Ok(reply::generated(&seed, numbers.finish()))
}

/// Check a telephone number
#[utoipa::path(
    operation_id = "validatePhoneNumber",
    tag = "Phone",
    params(PhoneValidationParameters),
    responses((status = 200, body = PhoneAnswer), Failures)
)]
#[get("/api/Phone/Validate")]
pub async fn validate_phone_number(
    After(input): After<Input<PhoneValidationRequest>>,
) -> HttpResponse {
    let validation = phone::validate(&input.telephone, input.region);
    reply::fresh(reply::json(&PhoneAnswer::from(validation)))
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
pub async fn list_phone_countries(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static COUNTRIES: LazyLock<List> = LazyLock::new(|| {
        let countries = country::named(phone::all().iter().map(|region| region.code));
        List::of(&countries.into_iter().map(CountryAnswer::from).collect::<Vec<_>>())
    });
    COUNTRIES.answer(&request)
}
