//! Requests and responses for checking bank accounts and crypto addresses.

use serde::{Deserialize, Serialize};
use shell::Violation;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::finance::{coin, country};
use super::request::{Request, complete};
use super::values::text;
use crate::model::crypto::{Coin, CryptoFault};
use crate::model::iban::{self, IbanFault};

/// Parameters of `GET /api/Finance/Iban/Validate`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IbanValidationParameters {
    /// IBAN, with or without spaces and in any letter case.
    #[serde(default, deserialize_with = "text::<_, 100>")]
    #[param(
        value_type = String,
        required = true,
        min_length = 1,
        max_length = 100,
        pattern = r"[^\s\u0085]",
        example = "DE89 3704 0044 0532 0130 00"
    )]
    #[validate(required)]
    iban: Option<String>,
    /// Country that the IBAN must belong to, from `/api/Finance/Countries`. Default: any country.
    #[serde(rename = "countryCode", default, deserialize_with = "country")]
    #[param(rename = "countryCode", value_type = Option<String>, max_length = 2, pattern = "^([A-Za-z]{2})?$", example = "DE")]
    country_code: Option<&'static iban::Country>,
}

/// A request to check an IBAN.
pub struct IbanValidationRequest {
    /// The IBAN as entered by the user.
    pub iban: String,
    /// The country that the account must be in, if any.
    pub country: Option<&'static iban::Country>,
}

impl Request for IbanValidationRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |IbanValidationParameters { iban, country_code }| {
            Some(Self { iban: iban?, country: country_code })
        })
    }
}

/// The result of an IBAN check.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "errorMessage": null, "countryCode": "DE", "electronic": "DE89370400440532013000", "printed": "DE89 3704 0044 0532 0130 00"}))]
pub struct IbanValidationAnswer {
    /// Whether the structure and check digits match the country.
    is_valid: bool,
    /// Error message; null if the IBAN is valid.
    error_message: Option<String>,
    /// The IBAN's country; absent if the IBAN is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    country_code: Option<&'static str>,
    /// IBAN without spaces; absent if it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    electronic: Option<String>,
    /// IBAN in groups of four characters; absent if it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    printed: Option<String>,
}

impl From<Result<(&'static iban::Country, String), IbanFault>> for IbanValidationAnswer {
    fn from(outcome: Result<(&'static iban::Country, String), IbanFault>) -> Self {
        match outcome {
            Ok((country, electronic)) => Self {
                is_valid: true,
                error_message: None,
                country_code: Some(country.code()),
                printed: Some(iban::grouped(&electronic)),
                electronic: Some(electronic),
            },
            Err(fault) => Self { error_message: Some(fault.to_string()), ..Self::default() },
        }
    }
}

/// Parameters of `GET /api/Finance/CryptoAddress/Validate`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CryptoValidationParameters {
    /// Crypto address.
    #[serde(default, deserialize_with = "text::<_, 200>")]
    #[param(
        value_type = String,
        required = true,
        min_length = 1,
        max_length = 200,
        pattern = r"[^\s\u0085]",
        example = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    )]
    #[validate(required)]
    address: Option<String>,
    /// Coin that the address must belong to, from `/api/Finance/CryptoAddress/Types`, or its ticker
    /// symbol. Default: any coin.
    #[serde(rename = "cryptoType", default, deserialize_with = "coin")]
    #[param(rename = "cryptoType", value_type = Option<String>, max_length = 100, pattern = "^[A-Za-z0-9 ._-]*$")]
    coin: Option<&'static Coin>,
}

/// A request to check a crypto address.
pub struct CryptoValidationRequest {
    pub address: String,
    /// The coin that the address must belong to, if any.
    pub coin: Option<&'static Coin>,
}

impl Request for CryptoValidationRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |CryptoValidationParameters { address, coin }| {
            Some(Self { address: address?, coin })
        })
    }
}

/// The result of a crypto address check.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "errorMessage": null, "types": ["Bitcoin"]}))]
pub struct CryptoValidationAnswer {
    /// Whether the format and checksum match a coin.
    is_valid: bool,
    /// Error message; null if the address is valid.
    error_message: Option<String>,
    /// Coins that the address matches. Several are possible, because many coins share a format.
    types: Vec<&'static str>,
}

impl From<Result<Vec<&'static Coin>, CryptoFault>> for CryptoValidationAnswer {
    fn from(outcome: Result<Vec<&'static Coin>, CryptoFault>) -> Self {
        let (types, error_message) = match outcome {
            Ok(coins) => (coins.iter().map(|coin| coin.name).collect(), None),
            Err(fault) => (Vec::new(), Some(fault.to_string())),
        };
        Self { is_valid: error_message.is_none(), error_message, types }
    }
}
