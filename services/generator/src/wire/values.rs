//! Deserializers shared by several operations.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shell::params::reject;

use super::rules::{TOO_LONG, UNSUPPORTED};
use crate::model::numbers::Schemes;
use crate::model::phone::Region;
use crate::model::{MAX_SEED, Seed, iban};

/// Maximum length of a coin or culture name.
pub const LONGEST_NAME: usize = 100;

/// Returns the length of a string in UTF-16 code units, as specified by the API contract.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Deserializes a string of up to `longest` characters.
pub fn limited<'de, D>(deserializer: D, longest: usize) -> Result<&'de str, D::Error>
where
    D: Deserializer<'de>,
{
    let text = <&str>::deserialize(deserializer)?;
    if length(text) > longest { Err(reject(TOO_LONG, longest)) } else { Ok(text) }
}

/// Deserializes a non-blank string of up to `longest` characters.
pub fn filled<'de, D>(deserializer: D, longest: usize) -> Result<&'de str, D::Error>
where
    D: Deserializer<'de>,
{
    let text = <&str>::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(reject("required", ""));
    }
    if length(text) > longest { Err(reject(TOO_LONG, longest)) } else { Ok(text) }
}

/// Deserializes a non-blank string of up to `LONGEST` characters for a required field.
pub fn text<'de, D, const LONGEST: usize>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    filled(deserializer, LONGEST).map(|text| Some(text.to_owned()))
}

/// Returns the value, or a violation that refers to the list of valid values if there is none.
pub fn listed<T, E: serde::de::Error>(found: Option<T>, list: &str) -> Result<Option<T>, E> {
    match found {
        Some(value) => Ok(Some(value)),
        None => Err(reject(UNSUPPORTED, list)),
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(limited(deserializer, MAX_SEED)?).map_err(|_| reject("required", ""))
    }
}

// Required by the `validator` crate, which includes the values of required parameters in its
// violations.

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code)
    }
}

impl Serialize for iban::Country {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl Serialize for Schemes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.country())
    }
}
