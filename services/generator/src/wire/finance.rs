//! Accounts and crypto addresses on the wire.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Draw, Input, Operation};
use crate::model::country::Country;
use crate::model::crypto::{self, COINS, Coin};
use crate::model::iban;

/// Parameters of `GET /api/Finance/CryptoAddress`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CryptoParams {
    /// Coin as `/api/Finance/CryptoAddress/Types` lists it, or its ticker.
    #[param(
        rename = "cryptoType",
        value_type = Option<String>,
        max_length = 100,
        default = "Bitcoin"
    )]
    pub coin: &'static Coin,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
}

impl Operation for CryptoParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let coin = match input.text("cryptoType", 100) {
            None => COINS.first(),
            Some(name) => input.known(
                "cryptoType",
                name,
                crypto::find(name),
                "/api/Finance/CryptoAddress/Types",
            ),
        };
        let draw = input.draw();
        Some(Self { coin: coin?, draw })
    }
}

/// An address with its coin.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"type": "Bitcoin", "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}))]
pub struct CryptoAnswer {
    /// Coin.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "Bitcoin")]
    pub kind: &'static str,
    /// Address with a valid checksum, around random bytes.
    pub address: String,
}

/// Parameters of `GET /api/Finance/Iban/{countryCode}`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IbanParams {
    /// The country in the path.
    #[param(ignore)]
    pub country: &'static iban::Country,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
}

impl Operation for IbanParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let code = input.path();
        let country = input.short("countryCode", code, 2).and_then(|code| {
            input.known("countryCode", code, iban::find(code), "/api/Finance/Countries")
        });
        let draw = input.draw();
        Some(Self { country: country?, draw })
    }
}

/// A country of the lists.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Germany", "countryCode": "DE"}))]
pub struct CountryAnswer {
    /// English name.
    #[schema(example = "Germany")]
    name: &'static str,
    /// Two letters.
    #[schema(example = "DE")]
    country_code: &'static str,
}

impl From<Country> for CountryAnswer {
    fn from(country: Country) -> Self {
        Self { name: country.name, country_code: country.code }
    }
}
