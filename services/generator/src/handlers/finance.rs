//! `/api/Finance`.

use std::sync::LazyLock;

use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get, post};
use auth::{After, Caller};

use super::countries;
use super::input::Input;
use super::reply::{self, List, Unchanged};
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::crypto::{self, COINS};
use crate::model::{Random, iban};
use crate::state::State;
use crate::wire::{
    CountryAnswer, CryptoAnswer, CryptoParameters, CryptoRequest, CryptoValidationAnswer,
    CryptoValidationParameters, CryptoValidationRequest, IbanParameters, IbanPath, IbanRequest,
    IbanValidationAnswer, IbanValidationParameters, IbanValidationRequest, NumberAnswer,
    OneOrSeveral, TextOrTexts, TypeName, VatParameters, VatRequest,
};

/// List coins
#[utoipa::path(
    operation_id = "listCryptoAddressTypes",
    tag = "Finance",
    responses(
        (status = 200, body = Vec<String>, example = json!(["Bitcoin", "Ethereum", "Litecoin"])),
        Unchanged,
        Failures
    )
)]
#[get("/api/Finance/CryptoAddress/Types")]
pub async fn list_crypto_address_types(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static TYPES: LazyLock<List> = LazyLock::new(|| {
        List::of(&COINS.iter().map(|coin| TypeName(coin.name)).collect::<Vec<_>>())
    });
    TYPES.answer(&request)
}

/// Generate a crypto address
///
/// The address is valid but is derived from random bytes instead of a key, so funds sent to it are
/// lost: **never send funds to it.** With `quantity`, the response is a list.
#[utoipa::path(
    operation_id = "generateCryptoAddress",
    tag = "Finance",
    params(CryptoParameters),
    responses(
        (status = 200, body = OneOrSeveral<CryptoAnswer>, example = json!({
            "type": "Bitcoin", "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
        })),
        Failures
    )
)]
#[get("/api/Finance/CryptoAddress")]
pub async fn generate_crypto_address(
    After(input): After<Input<CryptoRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generateCryptoAddress", "");
    let coin = input.coin;
    let make = move |_, random: &mut Random| {
        let mut address = String::new();
        coin.write(random, &mut address);
        CryptoAnswer { kind: coin.name, address }
    };
    input.records(Kind::CryptoAddress, &seed, random, make).await
}

/// Check a crypto address
///
/// Checks whether the format and checksum match a coin. Does not check whether the address is in
/// use. Supports all formats that this service generates; some coins have other, rarer formats.
#[utoipa::path(
    operation_id = "validateCryptoAddress",
    tag = "Finance",
    params(CryptoValidationParameters),
    responses((status = 200, body = CryptoValidationAnswer), Failures)
)]
#[get("/api/Finance/CryptoAddress/Validate")]
pub async fn validate_crypto_address(
    After(input): After<Input<CryptoValidationRequest>>,
) -> HttpResponse {
    let outcome = crypto::check(&input.address, input.coin);
    reply::fresh(reply::json(&CryptoValidationAnswer::from(outcome)))
}

/// Check an IBAN
///
/// Checks whether the structure and check digits match a country, including national check digits
/// in countries where banks use them. Does not check whether the account exists.
#[utoipa::path(
    operation_id = "validateIban",
    tag = "Finance",
    params(IbanValidationParameters),
    responses((status = 200, body = IbanValidationAnswer), Failures)
)]
#[get("/api/Finance/Iban/Validate")]
pub async fn validate_iban(After(input): After<Input<IbanValidationRequest>>) -> HttpResponse {
    let outcome = iban::check(&input.iban, input.country);
    reply::fresh(reply::json(&IbanValidationAnswer::from(outcome)))
}

/// Generate an IBAN
///
/// For some countries, the bank code is real. **The account may exist: do not send money to it.**
/// With `quantity`, the response is a list.
#[utoipa::path(
    operation_id = "generateIban",
    tag = "Finance",
    params(IbanPath, IbanParameters),
    responses(
        (status = 200, body = TextOrTexts, example = json!("DE88370400441474203700")),
        Failures
    )
)]
#[get("/api/Finance/Iban/{countryCode}")]
pub async fn generate_iban(After(input): After<Input<IbanRequest>>) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generateIban", "");
    let (country, spelling) = (input.country, input.spelling);
    let make = move |random: &mut Random, out: &mut String| {
        let mut number = String::new();
        country.write(random, &mut number);
        out.push_str(&spelling.apply(number, iban::grouped));
    };
    input.texts(Kind::Iban, &seed, random, "iban", make).await
}

/// List countries with IBANs
#[utoipa::path(
    operation_id = "listIbanCountries",
    tag = "Finance",
    responses(
        (status = 200, body = Vec<CountryAnswer>),
        Unchanged,
        Failures
    )
)]
#[get("/api/Finance/Countries")]
pub async fn list_iban_countries(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static COUNTRIES: LazyLock<List> =
        LazyLock::new(|| countries::list(iban::all().iter().map(iban::Country::code)));
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
    reply::fresh(reply::json(&NumberAnswer::new(&input.0, state.today())))
}
