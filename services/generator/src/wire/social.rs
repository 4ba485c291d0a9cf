//! Tax and identity numbers on the wire.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Draw, Input, Operation};
use crate::model::numbers::{self, Kind, Schemes, Verdict};

/// Parameters of an operation that draws one value.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DrawParams {
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
}

impl Operation for DrawParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        Some(Self { draw: input.draw() })
    }
}

/// Parameters of `POST /api/Finance/Vat/Validator`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct VatParams {
    /// Two letters; also `UK`, `EL`, `XI`, and `EU` or `IM` for the one-stop shop.
    #[param(rename = "country", value_type = String, example = "DE")]
    pub schemes: Schemes,
    /// Number with or without the country in front, in any usual spelling.
    #[param(rename = "vat", value_type = String, example = "DE136695976")]
    pub number: String,
}

impl Operation for VatParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let country = input.required_text("country", usize::MAX);
        let schemes =
            country.and_then(|country| supported(input, "country", country, &[Kind::Vat]));
        let number = input.required_text("vat", usize::MAX);
        Some(Self { schemes: schemes?, number: number?.to_owned() })
    }
}

/// The schemes of a country of the first of some kinds that it has.
fn supported(input: &mut Input<'_>, field: &str, country: &str, kinds: &[Kind]) -> Option<Schemes> {
    let found = kinds.iter().find_map(|kind| numbers::find(country, *kind));
    if found.is_none() {
        input.fault(field, format!("The value '{country}' is not supported."));
    }
    found
}

/// Which kind of number is checked.
#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub enum IdType {
    /// Tax number of a business.
    Vat,
    /// Number of a person.
    Ssn,
}

/// Body of `POST /api/SocialNumber`.
#[derive(ToSchema)]
#[allow(dead_code, reason = "documents the body that the reader takes apart")]
pub struct NumberValidation {
    /// Number to be checked.
    #[schema(min_length = 1, max_length = 100, example = "536-90-4399")]
    number: String,
    /// Two letters.
    #[schema(min_length = 1, max_length = 2, example = "US")]
    country: String,
}

/// Parameters of `POST /api/SocialNumber`; schemes and number are the body's.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NumberParams {
    /// Which kind of number is checked.
    #[param(rename = "idType", value_type = IdType, inline)]
    pub kind: Kind,
    /// Schemes of the country.
    #[param(ignore)]
    pub schemes: Schemes,
    /// Number to be checked.
    #[param(ignore)]
    pub number: String,
}

impl Operation for NumberParams {
    const MEMBERS: &'static [&'static str] = &["number", "country"];

    fn read(input: &mut Input<'_>) -> Option<Self> {
        let kind = input.required_word("idType", &[("VAT", Kind::Vat), ("SSN", Kind::Person)]);
        let number = input.required_member("Number", 100);
        let country = input.required_member("Country", 2);
        // Without a kind a country that has none at all is still a fault.
        let kinds = kind.map_or_else(|| vec![Kind::Vat, Kind::Person], |kind| vec![kind]);
        let schemes = country.and_then(|country| supported(input, "Country", country, &kinds));
        Some(Self { kind: kind?, schemes: schemes?, number: number?.to_owned() })
    }
}

/// Whether a number is right.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "errorMessage": null}))]
pub struct NumberAnswer {
    /// Whether any scheme of the country accepts it.
    is_valid: bool,
    /// What is wrong; null for a valid number.
    error_message: Option<String>,
}

impl From<Verdict> for NumberAnswer {
    fn from(verdict: Verdict) -> Self {
        Self { is_valid: verdict.is_ok(), error_message: verdict.err().map(|why| why.to_string()) }
    }
}
