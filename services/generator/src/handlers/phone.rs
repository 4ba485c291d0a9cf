//! `/api/Phone`.

use std::sync::LazyLock;

use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::{After, Caller};

use super::countries;
use super::input::Input;
use super::reply::{self, List, Unchanged};
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::{Random, imei, phone};
use crate::wire::{
    CountryAnswer, ImeiParameters, ImeiRequest, PhoneAnswer, PhoneParameters, PhoneRequest,
    PhoneValidationParameters, PhoneValidationRequest,
};

/// Generate telephone numbers
///
/// The numbers are valid in the country and have the length of its subscribers' numbers. About 70%
/// are mobile numbers, if the country distinguishes them. **They may be in use: do not call them or
/// send messages to them.** Use `fictional=true` for numbers that are never in use.
#[utoipa::path(
    operation_id = "generatePhoneNumbers",
    tag = "Phone",
    params(PhoneParameters),
    responses(
        (status = 200, body = Vec<String>, example = json!(["+4917425442464", "+4917037102949"])),
        Failures
    )
)]
#[get("/api/Phone/Generate")]
pub async fn generate_phone_numbers(
    After(input): After<Input<PhoneRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generatePhoneNumbers", "");
    let numbers = match input.fictional {
        false => input.region.numbers().map(Some),
        true => input.region.fictional_numbers(),
    };
    // Validation has already rejected regions without fictional numbers.
    let numbers = numbers.map_err(|cause| input.error(cause))?;
    let format = input.format;
    let make = move |random: &mut Random, out: &mut String| {
        if let Some(numbers) = &numbers {
            numbers.write(random, format, out);
        }
    };
    input.texts(Kind::Phone, &seed, random, "phoneNumber", make).await
}

/// Generate IMEI numbers
///
/// The reporting body identifier is real. The device type and serial number are random, so a device
/// with this IMEI may exist.
#[utoipa::path(
    operation_id = "generateImeis",
    tag = "Phone",
    params(ImeiParameters),
    responses(
        (status = 200, body = Vec<String>, example = json!(["996153791192928"])),
        Failures
    )
)]
#[get("/api/Phone/IMEI")]
pub async fn generate_imeis(
    After(input): After<Input<ImeiRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generateImeis", "");
    input.texts(Kind::Imei, &seed, random, "imei", imei::write).await
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

/// List countries with telephone numbers
#[utoipa::path(
    operation_id = "listPhoneCountries",
    tag = "Phone",
    responses(
        (status = 200, body = Vec<CountryAnswer>),
        Unchanged,
        Failures
    )
)]
#[get("/api/Phone/Countries")]
pub async fn list_phone_countries(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static COUNTRIES: LazyLock<List> =
        LazyLock::new(|| countries::list(phone::all().iter().map(|region| region.code)));
    COUNTRIES.answer(&request)
}
