//! `/api/Finance`.

use std::sync::LazyLock;

use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get, post};
use auth::Caller;

use super::Ask;
use super::answer::{self, List, Unchanged};
use crate::error::Failures;
use crate::model::crypto::COINS;
use crate::model::{country, iban};
use crate::state::State;
use crate::wire::{CountryAnswer, CryptoAnswer, CryptoParams, IbanParams, NumberAnswer, VatParams};

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
pub async fn coins(_caller: Caller, request: HttpRequest) -> HttpResponse {
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
    params(CryptoParams),
    responses(
        (status = 200, body = CryptoAnswer, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data"))),
        Failures
    )
)]
#[get("/api/Finance/CryptoAddress")]
pub async fn address(ask: Ask<CryptoParams>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let mut address = String::new();
    ask.coin.write(&mut seed.random("generateCryptoAddress", ""), &mut address);
    let answer = CryptoAnswer { kind: ask.coin.name, address };
    Ok(answer::drawn(&seed, answer::json(&answer)))
}

/// Make an IBAN
#[utoipa::path(
    operation_id = "generateIban",
    tag = "Finance",
    params(
        ("countryCode" = String, Path, max_length = 2, example = "DE",
            description = "Two letters as `/api/Finance/Countries` lists them, in any case"),
        IbanParams
    ),
    responses(
        (status = 200, body = String, content_type = "application/json", headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!("DE88370400441474203700")),
        Failures
    )
)]
#[get("/api/Finance/Iban/{countryCode}")]
pub async fn account(ask: Ask<IbanParams>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let mut number = String::new();
    ask.country.write(&mut seed.random("generateIban", ""), &mut number);
    Ok(answer::drawn(&seed, answer::json(&number)))
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
pub async fn countries(_caller: Caller, request: HttpRequest) -> HttpResponse {
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
    params(VatParams),
    responses((status = 200, body = NumberAnswer), Failures)
)]
#[post("/api/Finance/Vat/Validator")]
pub async fn validate_vat(ask: Ask<VatParams>, state: Data<State>) -> HttpResponse {
    let verdict = ask.schemes.check(&ask.number, state.today());
    answer::fresh(answer::json(&NumberAnswer::from(verdict)))
}
