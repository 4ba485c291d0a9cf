//! Requests and responses for telephone numbers and device identifiers.

use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::values::{filled, limited, listed, text};
use crate::model::Seed;
use crate::model::phone::{self, Format, Region, Validation};

const LIST: &str = "/api/Phone/Countries";

/// Format of a telephone number.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhoneFormat {
    /// `+33612345678`
    E164,
    /// `+33 6 12 34 56 78`
    International,
    /// `06 12 34 56 78`
    National,
    /// `tel:+33-6-12-34-56-78`
    Rfc3966,
}

impl From<PhoneFormat> for Format {
    fn from(format: PhoneFormat) -> Self {
        match format {
            PhoneFormat::E164 => Self::E164,
            PhoneFormat::International => Self::International,
            PhoneFormat::National => Self::National,
            PhoneFormat::Rfc3966 => Self::Rfc3966,
        }
    }
}

/// Parameters of `GET /api/Phone/Generate`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PhoneParameters {
    /// Two-letter country code from `/api/Phone/Countries`, in any letter case.
    #[serde(rename = "CountryCode", default, deserialize_with = "required_region")]
    #[param(
        rename = "CountryCode",
        value_type = String,
        required = true,
        min_length = 2,
        max_length = 2,
        pattern = "^[A-Za-z]{2}$",
        example = "FR"
    )]
    #[validate(required)]
    country_code: Option<&'static Region>,
    /// Number of values: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    #[serde(rename = "Quantity")]
    #[param(rename = "Quantity", value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// Format of the numbers. Default: `e164`.
    #[param(value_type = Option<PhoneFormat>, inline)]
    format: Option<PhoneFormat>,
    /// Whether to return only fictional numbers, from ranges that regulators reserve for films,
    /// books and examples. Available for AU, CA, DE, FR, GB, IE, SE and US. Some of these numbers
    /// do not pass validation.
    #[param(value_type = Option<bool>, default = false)]
    fictional: Option<bool>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
}

fn required_region<'de, D>(deserializer: D) -> Result<Option<&'static Region>, D::Error>
where
    D: Deserializer<'de>,
{
    listed(phone::find(filled(deserializer, 2)?), LIST)
}

fn region<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static Region>, D::Error> {
    listed(phone::find(limited(deserializer, 2)?), LIST)
}

/// A request for telephone numbers.
pub struct PhoneRequest {
    /// The region to generate numbers for.
    pub region: &'static Region,
    /// Number of telephone numbers.
    pub quantity: usize,
    /// The format of the numbers.
    pub format: Format,
    /// Whether to generate only fictional numbers.
    pub fictional: bool,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for PhoneRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("Quantity", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        let request = complete(query, |parameters: PhoneParameters| {
            Some(Self {
                region: parameters.country_code?,
                quantity: parameters.quantity?.try_into().ok()?,
                format: parameters.format.map(Format::from).unwrap_or_default(),
                fictional: parameters.fictional.unwrap_or_default(),
                seed: parameters.seed,
                extent: Extent::new(parameters.offset, parameters.bom),
            })
        })?;
        match request.fictional && !request.region.has_fiction() {
            true => Err(vec![no_fiction(request.region)]),
            false => Ok(request),
        }
    }
}

fn no_fiction(region: &Region) -> Violation {
    let known: Vec<_> = phone::regions_with_fiction().collect();
    let message = format!(
        "No numbers in {} are reserved for fiction. There are such numbers in {}.",
        region.code,
        known.join(", ")
    );
    Violation::new("fictional", "fictional", message)
}

/// Parameters of `GET /api/Phone/IMEI`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ImeiParameters {
    /// Number of values: up to 1000 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    #[serde(rename = "Quantity")]
    #[param(rename = "Quantity", value_type = i32, minimum = 1, maximum = 1000)]
    #[validate(required(code = "absent"), range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
}

/// A request for device identifiers.
pub struct ImeiRequest {
    /// Number of identifiers.
    pub quantity: usize,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for ImeiRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("Quantity", 1000));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |ImeiParameters { quantity, seed, offset, bom }| {
            Some(Self {
                quantity: quantity?.try_into().ok()?,
                seed,
                extent: Extent::new(offset, bom),
            })
        })
    }
}

seeded!(PhoneRequest ImeiRequest);
series!(ImeiRequest, |it| Some(it.quantity));
series!(PhoneRequest, |it| Some(it.quantity));

/// Parameters of `GET /api/Phone/Validate`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PhoneValidationParameters {
    /// Telephone number in any common format. Without `CountryCode`, it must start with `+` or
    /// `00`.
    #[serde(default, deserialize_with = "text::<_, 25>")]
    #[param(value_type = String, required = true, min_length = 1, max_length = 25, pattern = r"[^\s\u0085]", example = "06 12 34 56 78")]
    #[validate(required)]
    telephone: Option<String>,
    /// Country in which the number must be valid, from `/api/Phone/Countries`. Default: any
    /// country.
    #[serde(rename = "CountryCode", default, deserialize_with = "region")]
    #[param(rename = "CountryCode", value_type = Option<String>, max_length = 2, pattern = "^([A-Za-z]{2})?$", example = "FR")]
    country_code: Option<&'static Region>,
}

/// A request to check a telephone number.
pub struct PhoneValidationRequest {
    pub telephone: String,
    /// The region in which the number must be valid, if any.
    pub region: Option<&'static Region>,
}

impl Request for PhoneValidationRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |PhoneValidationParameters { telephone, country_code }| {
            Some(Self { telephone: telephone?, region: country_code })
        })
    }
}

/// The result of a telephone number check.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "countryCode": "DE", "e164": "+4915123456789", "international": "+49 1512 3456789", "national": "01512 3456789", "type": "MOBILE"}))]
pub struct PhoneAnswer {
    /// Whether the number can be dialed.
    is_valid: bool,
    /// Error message; absent if the number is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error_message: Option<String>,
    /// The number's country; absent if the number is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "FR")]
    country_code: Option<String>,
    /// Number in E.164 format; absent if it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "+33612345678")]
    e164: Option<String>,
    /// Number as dialed from abroad; absent if it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "+33 6 12 34 56 78")]
    international: Option<String>,
    /// Number as dialed within the country; absent if it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "06 12 34 56 78")]
    national: Option<String>,
    /// Type of the number, such as `MOBILE`, `FIXED_LINE`, `FIXED_LINE_OR_MOBILE` or `TOLL_FREE`;
    /// absent if the number is invalid.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(rename = "type", nullable = false, example = "MOBILE")]
    kind: Option<&'static str>,
}

impl From<Validation> for PhoneAnswer {
    fn from(validation: Validation) -> Self {
        match validation {
            Validation::Invalid(reason) => Self { error_message: Some(reason), ..Self::default() },
            Validation::Valid(valid) => Self {
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
