//! Parses comma-separated lists in parameters.

use serde::{Deserialize, Deserializer};
use shell::params::reject;

use crate::model::extension;

/// Maximum number of items.
const MOST_PARTS: usize = 500;
/// Maximum number of extensions.
const MOST_EXTENSIONS: usize = 100;

/// Distinct items, in the order in which they first occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub Vec<String>);

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut parts: Vec<String> = Vec::new();
        for part in Vec::<String>::deserialize(deserializer)? {
            if !parts.contains(&part) {
                parts.push(part);
            }
            if parts.len() > MOST_PARTS {
                return Err(reject("parts", format!("must have at most {MOST_PARTS} parts")));
            }
        }
        Ok(Self(parts))
    }
}

/// Distinct extensions, in lower case and without leading dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extensions(pub Vec<String>);

impl<'de> Deserialize<'de> for Extensions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found: Vec<String> = Vec::new();
        for part in Parts::deserialize(deserializer)?.0 {
            let parsed = extension::parse(&part).map_err(|error| reject("extension", error))?;
            if !found.contains(&parsed) {
                found.push(parsed);
            }
        }
        if found.len() > MOST_EXTENSIONS {
            return Err(reject("parts", format!("must have at most {MOST_EXTENSIONS} parts")));
        }
        Ok(Self(found))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, SeqDeserializer};

    use super::*;

    fn read<T: for<'de> Deserialize<'de>>(parts: &[&str]) -> Result<T, Error> {
        let parts: SeqDeserializer<_, Error> = parts.to_vec().into_deserializer();
        T::deserialize(parts)
    }

    #[test]
    fn parts_are_distinct_and_limited() {
        assert_eq!(read::<Parts>(&["b", "a", "b"]).unwrap().0, ["b", "a"]);
        let many: Vec<String> = (0..501).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(read::<Parts>(&many[..500]).is_ok());
        assert!(read::<Parts>(&many).is_err());
    }

    #[test]
    fn extensions_are_normalised() {
        assert_eq!(read::<Extensions>(&["TXT", ".txt"]).unwrap().0, ["txt"]);
        for wrong in ["a.b.c.d", ".", "..", "*", "*.pdf", "a/b"] {
            assert!(read::<Extensions>(&[wrong]).is_err(), "{wrong}");
        }
    }
}
