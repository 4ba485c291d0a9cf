//! Deserialisers of values that several operations take.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shell::params::reject;

use super::rules::{TOO_LONG, UNSUPPORTED};
use crate::model::numbers::Schemes;
use crate::model::phone::Region;
use crate::model::{MAX_SEED, Seed, iban};

/// Longest name of a coin or culture.
pub const LONGEST_NAME: usize = 100;

/// The length of a text, in the UTF-16 code units that the contract counts.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A text of at most `longest` characters.
pub fn limited<'de, D>(deserializer: D, longest: usize) -> Result<&'de str, D::Error>
where
    D: Deserializer<'de>,
{
    let text = <&str>::deserialize(deserializer)?;
    if length(text) > longest { Err(reject(TOO_LONG, longest)) } else { Ok(text) }
}

/// A text of at most `longest` characters, not all of which are blanks.
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

/// What was found of a text in what the operation `list` lists.
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

// `validator` puts the value of a required parameter into its violations, so it must serialise.

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
