//! Postal addresses and their cultures, under `/api/Misc`.

use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::{After, Caller};

use super::input::Input;
use super::name;
use super::reply::Unchanged;
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::Random;
use crate::wire::{AddressAnswer, AddressParameters, AddressRequest, AddressRow, CultureAnswer};

/// List cultures for addresses
#[utoipa::path(
    operation_id = "listMiscCultures",
    tag = "Misc",
    responses(
        (status = 200, body = Vec<CultureAnswer>),
        Unchanged,
        Failures
    )
)]
#[get("/api/Misc/Cultures")]
pub async fn list_misc_cultures(_caller: Caller, request: HttpRequest) -> HttpResponse {
    name::cultures().answer(&request)
}

/// Generate postal addresses
///
/// Each address is a single line in the format of its country, without the country name. CSV also
/// has a column for each part. Towns are real, and in 20 countries the postcode belongs to the
/// town. Streets and house numbers are random. An address may exist: do not send mail to it.
/// Postcodes contain GeoNames data (CC BY 4.0).
#[utoipa::path(
    operation_id = "generateAddresses",
    tag = "Misc",
    params(AddressParameters),
    responses(
        (status = 200, body = Vec<String>,
            example = json!(["Parkstraße 10, 48182 Münster", "Hohlweg 12, 66152 Saarbrücken"])),
        Failures
    )
)]
#[get("/api/Misc/Random-Address")]
pub async fn generate_addresses(
    After(input): After<Input<AddressRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let culture = input.culture;
    let random = seed.random("generateAddresses", culture.code);
    let make = move |_, random: &mut Random| {
        AddressRow(AddressAnswer::new(culture.address(random), culture))
    };
    input.records(Kind::Address, &seed, random, make).await
}
