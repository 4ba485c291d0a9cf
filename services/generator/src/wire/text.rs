//! Requests for placeholder text and passwords, and for text transformations.

use serde::{Deserialize, Deserializer, Serialize};
use shell::Violation;
use shell::params::{Input, read_validated, reject};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::body::{BodyRequest, TextDto};
use super::request::{Request, complete, seeded};
use super::rules::{ABSENT, RULES};
use crate::model::Seed;
use crate::model::text::{self, Classes, Unit, Vocabulary};

/// Vocabulary of the text.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoremType {
    /// Latin.
    Normal,
    /// Business phrases.
    Business,
}

/// Unit of `number`.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextType {
    /// Paragraphs of four to eight sentences, with `<br>` between them.
    Paragraphs,
    /// Words, in sentences.
    Words,
}

/// Parameters of `GET /api/Text/LoremIpsum`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LoremParameters {
    /// Vocabulary of the text.
    #[serde(rename = "loremType")]
    #[param(rename = "loremType", value_type = LoremType, inline)]
    #[validate(required(code = "absent"))]
    lorem_type: Option<LoremType>,
    /// Unit of `number`.
    #[serde(rename = "type")]
    #[param(rename = "type", value_type = TextType, inline)]
    #[validate(required(code = "absent"))]
    r#type: Option<TextType>,
    /// Number of words or paragraphs.
    #[param(value_type = i32, minimum = 1, maximum = 2147483647, example = 50)]
    #[validate(required(code = "absent"), range(min = 1, max = 2147483647))]
    number: Option<i32>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

/// A request for placeholder text.
pub struct LoremRequest {
    /// The source of the words.
    pub vocabulary: Vocabulary,
    /// The unit of `number`.
    pub unit: Unit,
    /// Number of words or paragraphs.
    pub number: u64,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for LoremRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |parameters: LoremParameters| {
            Some(Self {
                vocabulary: match parameters.lorem_type? {
                    LoremType::Normal => Vocabulary::Latin,
                    LoremType::Business => Vocabulary::Business,
                },
                unit: match parameters.r#type? {
                    TextType::Paragraphs => Unit::Paragraphs,
                    TextType::Words => Unit::Words,
                },
                number: parameters.number?.try_into().ok()?,
                seed: parameters.seed,
            })
        })
    }
}

seeded!(LoremRequest);

/// Parameters of `GET /api/Text/Password`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PasswordParameters {
    /// Password length in characters.
    #[param(value_type = i32, minimum = 3, maximum = 250, example = 16)]
    #[validate(required(code = "absent"), range(min = 3, max = 250))]
    length: Option<i32>,
    /// Whether to include digits.
    #[serde(rename = "hasDigits")]
    #[param(rename = "hasDigits", value_type = bool, example = true)]
    #[validate(required(code = "absent"))]
    has_digits: Option<bool>,
    /// Whether to include uppercase letters.
    #[serde(rename = "hasUppercase")]
    #[param(rename = "hasUppercase", value_type = bool, example = true)]
    #[validate(required(code = "absent"))]
    has_uppercase: Option<bool>,
    /// Whether to include punctuation, except quotes, backslashes and backticks.
    #[serde(rename = "hasSpecial")]
    #[param(rename = "hasSpecial", value_type = bool, example = false)]
    #[validate(required(code = "absent"))]
    has_special: Option<bool>,
    #[serde(default, deserialize_with = "no_seed")]
    #[param(ignore)]
    seed: Option<String>,
}

fn no_seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    <&str>::deserialize(deserializer)?;
    Err(reject("seedless", "Passwords cannot be repeated: the seed parameter is not allowed."))
}

/// A request for a password.
pub struct PasswordRequest {
    /// Length of the password in characters.
    pub length: usize,
    /// Character classes to use in addition to lower-case letters.
    pub classes: Classes,
}

impl Request for PasswordRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |parameters: PasswordParameters| {
            let classes = Classes {
                digits: parameters.has_digits?,
                upper: parameters.has_uppercase?,
                special: parameters.has_special?,
            };
            let repeated = parameters.seed.is_some();
            let length = parameters.length?.try_into().ok()?;
            (!repeated).then_some(Self { length, classes })
        })
    }
}

/// A request to convert an identifier to a sentence.
pub struct HumanizeRequest(pub String);

impl BodyRequest for HumanizeRequest {
    fn read(_: &str, body: &[u8]) -> Result<Self, Vec<Violation>> {
        TextDto::read(body, Vec::new()).map(Self)
    }
}

/// Kind of change.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
pub enum TextActionType {
    /// Change the letter case to `caseType`.
    Transform,
    /// Replace `find` with `replace`.
    Replace,
}

/// Target letter case.
#[expect(clippy::enum_variant_names, reason = "the names of the contract")]
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
pub enum CaseType {
    /// Lower case.
    LowerCase,
    /// Upper case.
    UpperCase,
    /// The first character capitalized.
    SentenceCase,
    /// Words capitalized, except small words in the middle.
    TitleCase,
}

impl From<CaseType> for text::CaseType {
    fn from(case: CaseType) -> Self {
        match case {
            CaseType::LowerCase => Self::Lower,
            CaseType::UpperCase => Self::Upper,
            CaseType::SentenceCase => Self::Sentence,
            CaseType::TitleCase => Self::Title,
        }
    }
}

/// Parameters of `POST /api/Text/Transform`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TransformParameters {
    /// Kind of change.
    #[serde(rename = "textActionType")]
    #[param(rename = "textActionType", value_type = TextActionType, inline)]
    #[validate(required(code = "absent"))]
    text_action_type: Option<TextActionType>,
    /// Target letter case. Required if `textActionType` is `Transform`.
    #[serde(rename = "caseType", default)]
    #[param(rename = "caseType", value_type = Option<CaseType>, inline)]
    case_type: Option<CaseType>,
    /// Exact text to find. Required if `textActionType` is `Replace`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    find: Option<String>,
    /// Replacement text. Default: empty.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    replace: Option<String>,
}

/// A text transformation.
pub enum Change {
    /// Change the letter case.
    Case(text::CaseType),
    /// Replace all occurrences of a string.
    Replacement {
        /// The string to find, which isn't empty.
        find: String,
        replacement: String,
    },
}

impl TransformParameters {
    fn change(self) -> Result<Change, Vec<Violation>> {
        let missing = |field, code| vec![Violation::new(field, code, "")];
        match self.text_action_type {
            // The missing parameter has already been reported by validation.
            None => Err(Vec::new()),
            Some(TextActionType::Transform) => {
                let case = self.case_type.ok_or_else(|| missing("caseType", ABSENT))?;
                Ok(Change::Case(case.into()))
            }
            Some(TextActionType::Replace) => {
                let find = self.find.ok_or_else(|| missing("find", "required"))?;
                let replacement = self.replace.unwrap_or_default();
                Ok(Change::Replacement { find, replacement })
            }
        }
    }
}

/// A request to transform text.
pub struct TransformRequest {
    pub change: Change,
    pub text: String,
}

impl BodyRequest for TransformRequest {
    fn read(query: &str, body: &[u8]) -> Result<Self, Vec<Violation>> {
        let input = Input::query(query);
        let parameters = read_validated::<TransformParameters>(&input, &RULES).into_result();
        let (change, violations) = match parameters.and_then(TransformParameters::change) {
            Ok(change) => (Some(change), Vec::new()),
            Err(violations) => (None, violations),
        };
        let text = TextDto::read(body, violations)?;
        change.map(|change| Self { change, text }).ok_or_else(Vec::new)
    }
}
