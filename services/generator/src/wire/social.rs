//! Requests and responses for checking tax and identity numbers.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::{Input, read_validated, reject};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::body::{BodyRequest, members, value_of};
use super::request::{Request, complete};
use super::rules::{BODY_RULES, MEMBER_LENGTH, RULES, UNSUPPORTED};
use super::values::{filled, length, listed};
use crate::model::numbers::{self, Kind, Schemes};

/// Parameters of `POST /api/Finance/Vat/Validator`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct VatParameters {
    /// Two-letter country code. `UK`, `EL` and `XI` are also accepted, as are `EU` and `IM` for the
    /// one-stop shop.
    #[serde(default, deserialize_with = "vat_schemes")]
    #[param(value_type = String, required = true, min_length = 2, pattern = "^[A-Za-z]{2}$", example = "DE")]
    #[validate(required)]
    country: Option<Schemes>,
    /// Tax number, with or without country prefix and in any common notation.
    #[serde(default, deserialize_with = "number")]
    #[param(value_type = String, required = true, min_length = 1, pattern = r"[^\s\u0085]", example = "DE136695976")]
    #[validate(required)]
    vat: Option<String>,
}

fn vat_schemes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Schemes>, D::Error> {
    listed(numbers::find(filled(deserializer, usize::MAX)?, Kind::Vat), "")
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    filled(deserializer, usize::MAX).map(|text| Some(text.to_owned()))
}

/// A request to check a number.
pub struct NumberRequest {
    /// The country's schemes.
    pub schemes: Schemes,
    /// The number as entered by the user.
    pub number: String,
}

/// A request to check a tax number.
pub struct VatRequest(pub NumberRequest);

impl Request for VatRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |VatParameters { country, vat }| {
            Some(Self(NumberRequest { schemes: country?, number: vat? }))
        })
    }
}

/// Kind of number.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum IdType {
    /// A business's tax number.
    Vat,
    /// A person's identity number.
    Ssn,
}

impl From<IdType> for Kind {
    fn from(id_type: IdType) -> Self {
        match id_type {
            IdType::Vat => Self::Vat,
            IdType::Ssn => Self::Person,
        }
    }
}

/// Parameters of `POST /api/SocialNumber`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NumberParameters {
    /// Kind of number.
    #[serde(rename = "idType")]
    #[param(rename = "idType", value_type = IdType, inline)]
    #[validate(required(code = "absent"))]
    id_type: Option<IdType>,
}

/// Request body of `POST /api/SocialNumber`.
#[derive(Deserialize, Validate, ToSchema)]
pub struct NumberValidation {
    /// Number to check.
    #[serde(default, deserialize_with = "member::<_, 100>")]
    #[schema(value_type = String, required = true, min_length = 1, max_length = 100, example = "536-90-4399")]
    #[validate(required)]
    number: Option<String>,
    /// Two-letter country code.
    #[serde(default, deserialize_with = "member::<_, 2>")]
    #[schema(value_type = String, required = true, min_length = 2, max_length = 2, pattern = "^[A-Za-z]{2}$", example = "US")]
    #[validate(required)]
    country: Option<String>,
}

fn member<'de, D, const LONGEST: usize>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    let text = <&str>::deserialize(deserializer)?;
    match (1..=LONGEST).contains(&length(text)) {
        true => Ok(Some(text.to_owned())),
        false => Err(reject(MEMBER_LENGTH, LONGEST)),
    }
}

impl BodyRequest for NumberRequest {
    fn read(query: &str, body: &[u8]) -> Result<Self, Vec<Violation>> {
        let query = Input::query(query);
        let query = read_validated::<NumberParameters>(&query, &RULES);
        let id_type = query.value.and_then(|parameters| parameters.id_type);
        let members = match members(body) {
            Ok(members) => members,
            Err(broken) => return Err([vec![broken], query.violations].concat()),
        };
        let body = Input::members(members.iter().map(|(name, value)| (name, value)));
        let (value, unknown, others) =
            value_of(read_validated::<NumberValidation>(&body, &BODY_RULES));
        let mut violations = [unknown, query.violations, others].concat();
        let (number, country) = match value {
            Some(NumberValidation { number, country }) => (number, country),
            None => (None, None),
        };
        // A country without any schemes is a violation even if no kind is given.
        let schemes = country.as_deref().and_then(|country| {
            let found = schemes(country, id_type.map(Kind::from));
            if found.is_none() {
                violations.push(Violation {
                    sent: Some(country.into()),
                    ..Violation::new("Country", UNSUPPORTED, "")
                });
            }
            found
        });
        match (schemes, number, id_type) {
            (Some(schemes), Some(number), Some(_)) if violations.is_empty() => {
                Ok(Self { schemes, number })
            }
            _ => Err(violations),
        }
    }
}

/// Returns a country's schemes of the given kind. Without a kind, returns the tax schemes, or the
/// identity schemes if the country has no tax schemes.
pub fn schemes(country: &str, kind: Option<Kind>) -> Option<Schemes> {
    match kind {
        Some(kind) => numbers::find(country, kind),
        None => [Kind::Vat, Kind::Person].into_iter().find_map(|kind| numbers::find(country, kind)),
    }
}

/// The result of a number check.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isValid": true, "errorMessage": null}))]
pub struct NumberAnswer {
    /// Whether the number is valid under any of the country's schemes.
    is_valid: bool,
    /// Error message; null if the number is valid.
    error_message: Option<String>,
    /// Kind of a valid number, if it differs from the country's usual kind, such as
    /// `foreigner number`. Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
}

impl NumberAnswer {
    /// Checks a number and creates the response.
    pub fn new(request: &NumberRequest, today: Date) -> Self {
        let verdict = request.schemes.check(&request.number, today);
        Self {
            is_valid: verdict.is_ok(),
            error_message: verdict.err().map(|why| why.to_string()),
            kind: request.schemes.other_kind(&request.number, today),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(body: &str) -> Vec<Violation> {
        NumberRequest::read("idType=SSN", body.as_bytes()).err().unwrap_or_default()
    }

    fn fields(body: &str) -> Vec<String> {
        violations(body).into_iter().map(|violation| violation.field).collect()
    }

    #[test]
    fn members_ignore_case_and_the_last_one_counts() {
        let body = br#"{"NUMBER":"1","number":"2","Country":"us"}"#;
        assert_eq!(NumberRequest::read("idType=SSN", body).ok().unwrap().number, "2");
    }

    #[test]
    fn violations_are_named_by_member_or_path() {
        assert_eq!(fields(""), [""]);
        assert_eq!(fields(" null "), [""]);
        assert_eq!(fields("[]"), ["$"]);
        assert_eq!(fields(r#"{"number":"1",}"#), ["$"]);
        assert_eq!(fields(r#"{"number":7,"country":"US"}"#), ["$.number"]);
        assert_eq!(fields(r#"{"":1,"$.other":2}"#), ["$.", "$.$.other", "Number", "Country"]);
    }

    #[test]
    fn only_the_first_unknown_members_are_reported() {
        let members: Vec<_> = (0..40_000).map(|n| format!("\"member{n}\":1")).collect();
        let body = format!("{{{}}}", members.join(","));
        let unknown = violations(&body).into_iter().filter(|it| it.code == "unknown");
        let unknown: Vec<_> = unknown.map(|violation| violation.field).collect();
        assert_eq!(unknown.len(), 32);
        assert_eq!([&*unknown[0], &*unknown[31]], ["$.member0", "$.member31"]);
    }
}
