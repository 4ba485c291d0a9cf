//! Names on the wire.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Draw, Input, Operation};
use crate::model::names::{self, Culture, Part};

/// Which part of a name is wanted.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum NameType {
    /// The given name.
    FirstName,
    /// The family name.
    Surname,
    /// Given name and surname.
    FullName,
}

/// Parameters of `GET /api/Name`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NameParams {
    /// Which part of a name is wanted.
    #[param(rename = "nameType", value_type = NameType, inline)]
    pub part: Part,
    /// How many names.
    #[param(minimum = 1, maximum = 5000)]
    pub quantity: i32,
    /// Language and country as `/api/Name/Cultures` lists them.
    #[param(rename = "cultureCode", value_type = Option<String>, default = "en_US")]
    pub culture: &'static Culture,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(rename = "seed", value_type = Option<String>, min_length = 1, max_length = 64)]
    pub draw: Draw,
}

impl Operation for NameParams {
    fn read(input: &mut Input<'_>) -> Option<Self> {
        let words = [("firstname", Part::First), ("surname", Part::Last), ("fullname", Part::Full)];
        let part = input.required_word("nameType", &words);
        let quantity = input.required_number("quantity", 1, 5000);
        let culture = match input.text("cultureCode", 100) {
            None => Some(names::american()),
            Some(code) => input.known("cultureCode", code, names::find(code), "/api/Name/Cultures"),
        };
        let draw = input.draw();
        Some(Self { part: part?, quantity: quantity?, culture: culture?, draw })
    }
}

/// A culture of the lists.
#[derive(Serialize, ToSchema)]
pub struct CultureAnswer {
    /// Code for `cultureCode`.
    #[schema(example = "en_US")]
    code: &'static str,
    /// English name.
    #[schema(example = "English (United States)")]
    name: &'static str,
}

impl From<&Culture> for CultureAnswer {
    fn from(culture: &Culture) -> Self {
        Self { code: culture.code, name: culture.name }
    }
}
