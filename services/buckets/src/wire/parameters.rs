//! How the parameters of all operations are read.

use shell::{Fault, Pairs};

use crate::model::address::BucketType;

/// Characters of keywords at most.
pub const LONGEST_KEYWORDS: usize = 1_000;
/// Parts of a comma list at most.
pub const MOST_PARTS: usize = 500;
/// Items of a page unless asked for.
pub const DEFAULT_LIMIT: u64 = 100;
/// Items of a page at most.
pub const LARGEST_LIMIT: u64 = 1_000;

/// A rule that a parameter breaks.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// Any rule that has no variant of its own.
    #[error("{text}")]
    Rule {
        /// Name of the parameter.
        name: &'static str,
        /// The rule.
        text: String,
    },
    /// The regular expression cannot be used.
    #[error("{0}")]
    Regexp(String),
    /// `start` lies beyond the reach of offsets.
    #[error("start is too large")]
    OffsetTooLarge,
    /// The query string cannot be decoded.
    #[error("{0:?}")]
    Query(Fault),
}

impl ParameterError {
    /// A rule that has no variant of its own.
    pub fn rule(name: &'static str, text: impl Into<String>) -> Self {
        Self::Rule { name, text: text.into() }
    }
}

impl From<Fault> for ParameterError {
    fn from(fault: Fault) -> Self {
        Self::Query(fault)
    }
}

/// The parameters of a request: the last one of a name counts, an empty one is none.
pub struct Parameters(Pairs);

impl Parameters {
    /// Decodes a query string.
    pub fn parse(query: &str) -> Result<Self, ParameterError> {
        Ok(Self(Pairs::parse(query)?))
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.last(name).filter(|text| !text.is_empty())
    }

    /// Keywords; absent ones are empty.
    pub fn keywords(&self) -> Result<&str, ParameterError> {
        let text = self.text("keywords").unwrap_or_default();
        if text.chars().count() > LONGEST_KEYWORDS {
            let rule = format!("keywords must have at most {LONGEST_KEYWORDS} characters");
            return Err(ParameterError::rule("keywords", rule));
        }
        Ok(text)
    }

    /// A boolean; absent ones are false.
    pub fn boolean(&self, name: &'static str) -> Result<bool, ParameterError> {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(_) => {
                Err(ParameterError::rule(name, format!("{name} must be 1, true, 0 or false")))
            }
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &'static str) -> Result<Option<u64>, ParameterError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let digits = (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        let number = digits.then(|| text.parse().ok()).flatten();
        let rule = || format!("{name} must be a whole number of 1 to 18 digits");
        number.map(Some).ok_or_else(|| ParameterError::rule(name, rule()))
    }

    /// Items of a page.
    pub fn limit(&self) -> Result<u64, ParameterError> {
        let limit = self.integer("limit")?.unwrap_or(DEFAULT_LIMIT);
        if (1..=LARGEST_LIMIT).contains(&limit) {
            return Ok(limit);
        }
        Err(ParameterError::rule("limit", format!("limit must be between 1 and {LARGEST_LIMIT}")))
    }

    /// One of some values, in its canonical form.
    pub fn one_of(
        &self,
        name: &'static str,
        values: &[&'static str],
    ) -> Result<Option<&'static str>, ParameterError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let found = values.iter().find(|value| value.eq_ignore_ascii_case(text));
        let rule = || format!("{name} must be {}", values.join(" or "));
        found.map(|value| Some(*value)).ok_or_else(|| ParameterError::rule(name, rule()))
    }

    /// The direction of an order: what is echoed, and whether the largest comes first.
    pub fn direction(&self) -> Result<&'static str, ParameterError> {
        Ok(self.one_of("direction", &["asc", "desc"])?.unwrap_or_default())
    }

    /// The parts of a comma list: trimmed, without empty and repeated ones.
    pub fn list(&self, name: &'static str) -> Result<Vec<String>, ParameterError> {
        let mut parts: Vec<String> = Vec::new();
        for part in self.text(name).unwrap_or_default().split(',').map(str::trim) {
            if !part.is_empty() && !parts.iter().any(|known| known == part) {
                parts.push(part.to_owned());
            }
            if parts.len() > MOST_PARTS {
                let rule = format!("{name} must have at most {MOST_PARTS} parts");
                return Err(ParameterError::rule(name, rule));
            }
        }
        Ok(parts)
    }

    /// Bucket types of a comma list.
    pub fn types(&self, name: &'static str) -> Result<Vec<BucketType>, ParameterError> {
        let rule =
            |_| ParameterError::rule(name, format!("{name} must be of aws, azure, dos, gcp, ali"));
        self.list(name)?.iter().map(|part| part.parse().map_err(rule)).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(query: &str) -> Parameters {
        Parameters::parse(query).unwrap()
    }

    #[rstest]
    #[case("b=1", Some(true))]
    #[case("b=TRUE", Some(true))]
    #[case("b=0", Some(false))]
    #[case("b=False", Some(false))]
    #[case("b=", Some(false))]
    #[case("", Some(false))]
    #[case("b=yes", None)]
    #[case("b=1&b=0", Some(false))]
    fn booleans(#[case] query: &str, #[case] expected: Option<bool>) {
        assert_eq!(parse(query).boolean("b").ok(), expected, "{query}");
    }

    #[rstest]
    #[case("n=0", Some(Some(0)))]
    #[case("n=999999999999999999", Some(Some(999_999_999_999_999_999)))]
    #[case("n=1000000000000000000", None)]
    #[case("n=-1", None)]
    #[case("n=%2B1", None)]
    #[case("n=1.0", None)]
    #[case("n=+1", None)]
    #[case("n=", Some(None))]
    fn integers(#[case] query: &str, #[case] expected: Option<Option<u64>>) {
        assert_eq!(parse(query).integer("n").ok(), expected, "{query}");
    }

    #[test]
    fn lists_are_trimmed_and_have_no_repeats() {
        assert_eq!(parse("l=b,,+a+,b,%2C").list("l").unwrap(), ["b", "a"]);
        let long: Vec<String> = (0..501).map(|number| number.to_string()).collect();
        assert!(parse(&format!("l={}", long[..500].join(","))).list("l").is_ok());
        assert!(parse(&format!("l={}", long.join(","))).list("l").is_err());
    }

    #[test]
    fn the_last_of_a_name_counts() {
        assert_eq!(parse("limit=5&limit=7").limit().unwrap(), 7);
        assert_eq!(parse("limit=5&limit=").limit().unwrap(), 100);
        assert!(parse("limit=0").limit().is_err());
        assert!(parse("limit=1001").limit().is_err());
    }
}
