//! `/api/Finance`.

use std::sync::LazyLock;

use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get, post};
use auth::{After, Caller};

use super::input::Input;
use super::reply::{self, List, Unchanged};
use crate::error::Failures;
use crate::model::crypto::COINS;
use crate::model::{country, iban};
use crate::state::State;
use crate::wire::{
    CountryAnswer, CryptoAnswer, CryptoParameters, CryptoRequest, IbanPath, IbanRequest,
    NumberAnswer, SeedParameters, VatParameters, VatRequest,
};

/// List the coins
#[utoipa::path(
    operation_id = "listCryptoAddressTypes",
    tag = "Finance",
    responses(
        (status = 200, body = Vec<String>, headers(
            ("ETag" = String, description = "Changes with the list"),
            ("Cache-Control" = String, description = "An hour, for everybody")),
            example = json!(["Bitcoin", "Ethereum", "Litecoin"])),
        Unchanged,
        Failures
    )
)]
#[get("/api/Finance/CryptoAddress/Types")]
pub async fn list_crypto_address_types(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static TYPES: LazyLock<List> =
        LazyLock::new(|| List::of(&COINS.iter().map(|coin| coin.name).collect::<Vec<_>>()));
    TYPES.answer(&request)
}

/// Make a crypto address
///
/// Never send funds here: the address is well-formed, but random bytes stand where a key would, so
/// nobody can ever spend what arrives.
#[utoipa::path(
    operation_id = "generateCryptoAddress",
    tag = "Finance",
    params(CryptoParameters),
    responses(
        (status = 200, body = CryptoAnswer, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data"))),
        Failures
    )
)]
#[get("/api/Finance/CryptoAddress")]
pub async fn generate_crypto_address(
    After(input): After<Input<CryptoRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut address = String::new();
    input.coin.write(&mut seed.random("generateCryptoAddress", ""), &mut address);
    let answer = CryptoAnswer { kind: input.coin.name, address };
    Ok(reply::generated(&seed, reply::json(&answer)))
}

/// Make an IBAN
#[utoipa::path(
    operation_id = "generateIban",
    tag = "Finance",
    params(IbanPath, SeedParameters),
    responses(
        (status = 200, body = String, content_type = "application/json", headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!("DE88370400441474203700")),
        Failures
    )
)]
#[get("/api/Finance/Iban/{countryCode}")]
pub async fn generate_iban(After(input): After<Input<IbanRequest>>) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut number = String::new();
    input.country.write(&mut seed.random("generateIban", ""), &mut number);
    Ok(reply::generated(&seed, reply::json(&number)))
}

/// List the countries of IBANs
#[utoipa::path(
    operation_id = "listIbanCountries",
    tag = "Finance",
    responses(
        (status = 200, body = Vec<CountryAnswer>, headers(
            ("ETag" = String, description = "Changes with the list"),
            ("Cache-Control" = String, description = "An hour, for everybody"))),
        Unchanged,
        Failures
    )
)]
#[get("/api/Finance/Countries")]
pub async fn list_iban_countries(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static COUNTRIES: LazyLock<List> = LazyLock::new(|| {
        let countries = country::named(iban::all().iter().map(iban::Country::code));
        List::of(&countries.into_iter().map(CountryAnswer::from).collect::<Vec<_>>())
    });
    COUNTRIES.answer(&request)
}

/// Check a tax number
#[utoipa::path(
    operation_id = "validateVat",
    tag = "Finance",
    params(VatParameters),
    responses((status = 200, body = NumberAnswer), Failures)
)]
#[post("/api/Finance/Vat/Validator")]
pub async fn validate_vat(
    After(input): After<Input<VatRequest>>,
    state: Data<State>,
) -> HttpResponse {
    let verdict = input.0.schemes.check(&input.0.number, state.today());
    reply::fresh(reply::json(&NumberAnswer::from(verdict)))
}
