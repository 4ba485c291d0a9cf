//! Requests and responses for searches by hash prefix.

use domain::Sha1Digest;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type};

use super::body::{Body, member};
use crate::model::EmailPrefix;

/// The breaches of one address whose hash starts with the requested prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(rename_all = "camelCase")]
pub struct RangeEntry<'c> {
    /// The SHA-1 suffix: the 34 upper-case characters after the prefix.
    #[schema(value_type = String, pattern = "^[0-9A-F]{34}$", example = "22FFBB50B11B0EFD307BE358624A26EE00")]
    pub hash_suffix: HashSuffix,
    /// Names of the breaches, sorted in byte order.
    #[schema(example = json!(["Acmegram"]))]
    #[schema(value_type = Vec<String>)]
    pub websites: Vec<&'c str>,
}

/// The SHA-1 suffix: everything after the first six hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HashSuffix([u8; 17]);

impl HashSuffix {
    /// Returns the suffix of a digest.
    pub fn of(digest: &Sha1Digest) -> Self {
        let mut suffix = [0; 17];
        suffix.copy_from_slice(&digest.0[3..]);
        Self(suffix)
    }
}

impl Serialize for HashSuffix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = [0; 34];
        for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        }
        serializer.serialize_str(std::str::from_utf8(&text).map_err(serde::ser::Error::custom)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffix_is_the_rest_of_the_digest() {
        let digest = Sha1Digest::of("test@example.com");
        let text = serde_json::to_string(&HashSuffix::of(&digest)).unwrap();
        assert_eq!(text, format!("\"{}\"", &digest.to_string()[6..]));
    }
}

/// Maximum number of prefixes per request.
const MAX_PREFIXES: usize = 1_000;

/// The prefixes to search.
#[derive(Clone, Debug, PartialEq, Eq, ToSchema)]
pub struct RangesRequest {
    /// 1 to 1,000 prefixes of 6 hexadecimal characters, in upper or lower case. Duplicates are
    /// ignored.
    #[schema(schema_with = prefixes)]
    prefixes: Vec<String>,
}

fn prefixes() -> Array {
    let prefix = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[0-9A-Fa-f]{6}$"));
    ArrayBuilder::new()
        .items(prefix)
        .min_items(Some(1))
        .max_items(Some(MAX_PREFIXES))
        .examples([serde_json::json!(["567159", "D622FF"])])
        .description(Some(
            "1 to 1,000 prefixes of 6 hexadecimal characters, in upper or lower case. Duplicates \
             are ignored.",
        ))
        .build()
}

impl RangesRequest {
    /// Parses the list of prefixes. The name of this member is case-insensitive. Returns `None` if
    /// the body is invalid.
    fn read(body: &[u8]) -> Option<Self> {
        let object: Value = serde_json::from_slice(body).ok()?;
        let prefixes = Vec::<String>::deserialize(member(&object, "prefixes")?).ok()?;
        Some(Self { prefixes })
    }
}

impl Body for RangesRequest {
    type Content = Vec<EmailPrefix>;

    fn parse(body: &[u8]) -> Option<Vec<EmailPrefix>> {
        let Self { prefixes } = Self::read(body)?;
        if !(1..=MAX_PREFIXES).contains(&prefixes.len()) {
            return None;
        }
        let mut seen = std::collections::HashSet::new();
        let prefixes: Option<Vec<_>> =
            prefixes.iter().map(|text| EmailPrefix::parse(text)).collect();
        Some(prefixes?.into_iter().filter(|prefix| seen.insert(*prefix)).collect())
    }
}
