//! Telephone numbers and devices on the wire.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Draw, Input, Operation};
use crate::model::phone::{self, Judgement, Region};

const LIST: &str = "/api/Phone/Countries";

/// Parameters of `GET /api/Phone/Generate`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PhoneParams {
    /// Two letters as `/api/Phone/Countries` lists them, in any case.
    #[param(rename = "CountryCode", value_type = String, max_length = 2, example = "FR")]
    pub region: &'static Region,
    /// How many numbers.
    #[param(rename = "Quantity", minimum = 1, maximum = 1000)]
    pub quantity: i32,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
}

impl Operation for PhoneParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let code = input.required_text("CountryCode", 2);
        let region =
            code.and_then(|code| input.known("CountryCode", code, phone::find(code), LIST));
        let quantity = input.required_number("Quantity", 1, 1000);
        let draw = input.draw();
        Some(Self { region: region?, quantity: quantity?, draw })
    }
}

/// Parameters of `GET /api/Phone/IMEI`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ImeiParams {
    /// How many numbers.
    #[param(rename = "Quantity", minimum = 1, maximum = 1000)]
    pub quantity: i32,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
}

impl Operation for ImeiParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let quantity = input.required_number("Quantity", 1, 1000);
        let draw = input.draw();
        Some(Self { quantity: quantity?, draw })
    }
}

/// Parameters of `GET /api/Phone/Validate`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PhoneValidateParams {
    /// Number in any usual form. Without `CountryCode` it begins with `+` or `00`.
    #[param(max_length = 25, example = "06 12 34 56 78")]
    pub telephone: String,
    /// Two letters as `/api/Phone/Countries` lists them: the number must be valid there.
    #[param(rename = "CountryCode", value_type = Option<String>, max_length = 2, example = "FR")]
    pub region: Option<&'static Region>,
}

impl Operation for PhoneValidateParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let telephone = input.required_text("telephone", 25);
        let code = input.text("CountryCode", 2);
        let region =
            code.and_then(|code| input.known("CountryCode", code, phone::find(code), LIST));
        Some(Self { telephone: telephone?.to_owned(), region })
    }
}

/// What is known about a telephone number.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "countryCode": "DE", "e164": "+4915123456789", "international": "+49 1512 3456789", "national": "01512 3456789", "type": "MOBILE"}))]
pub struct PhoneAnswer {
    /// Whether the number can be dialled.
    is_valid: bool,
    /// Why not; only for an invalid number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error_message: Option<String>,
    /// Country of a valid number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "FR")]
    country_code: Option<String>,
    /// Form for machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "+33612345678")]
    e164: Option<String>,
    /// Form for callers abroad.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "+33 6 12 34 56 78")]
    international: Option<String>,
    /// Form for callers in the country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "06 12 34 56 78")]
    national: Option<String>,
    /// `MOBILE`, `FIXED_LINE`, `FIXED_LINE_OR_MOBILE`, `TOLL_FREE`, …
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(rename = "type", nullable = false, example = "MOBILE")]
    kind: Option<&'static str>,
}

impl From<Judgement> for PhoneAnswer {
    fn from(judgement: Judgement) -> Self {
        match judgement {
            Judgement::Invalid(reason) => Self { error_message: Some(reason), ..Self::default() },
            Judgement::Valid(valid) => Self {
                is_valid: true,
                error_message: None,
                country_code: Some(valid.region),
                e164: Some(valid.e164),
                international: Some(valid.international),
                national: Some(valid.national),
                kind: Some(valid.kind),
            },
        }
    }
}
