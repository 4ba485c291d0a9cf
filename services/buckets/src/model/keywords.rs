//! Keyword syntax: words, phrases and exclusions.

use super::words;

/// Maximum number of terms in a search.
pub const MOST_TERMS: usize = 32;

/// Consecutive words. A single word is also a phrase.
pub type Phrase = Vec<String>;

/// Required and excluded phrases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keywords {
    /// Matches contain all these phrases, in any order.
    pub include: Vec<Phrase>,
    /// Matches contain none of these phrases.
    pub exclude: Vec<Phrase>,
}

/// Error for more than [`MOST_TERMS`] terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("keywords must have at most {MOST_TERMS} terms")]
pub struct TooManyTerms;

impl Keywords {
    /// Parses keywords.
    ///
    /// Terms are separated by white space. `"a b"` is a single term, and a leading minus excludes a
    /// term. A term with more than one word, e.g. `a-b`, is a phrase. Terms without any words are
    /// ignored.
    ///
    /// ```
    /// use buckets::model::Keywords;
    ///
    /// let parsed = Keywords::parse(r#"THEBACKUP -pdf "a b""#)?;
    /// assert_eq!(parsed.include, [vec!["thebackup".to_owned()], vec!["a".into(), "b".into()]]);
    /// assert_eq!(parsed.exclude, [vec!["pdf".to_owned()]]);
    /// # Ok::<(), buckets::model::TooManyTerms>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, TooManyTerms> {
        let mut keywords = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let without_minus = rest.trim_start_matches('-');
            let excluded = without_minus.len() < rest.len();
            let (term, after) = next_term(without_minus);
            let phrase = words::of(term);
            if !phrase.is_empty() {
                let list = if excluded { &mut keywords.exclude } else { &mut keywords.include };
                list.push(phrase);
            }
            if keywords.include.len() + keywords.exclude.len() > MOST_TERMS {
                return Err(TooManyTerms);
            }
            rest = after.trim_start();
        }
        Ok(keywords)
    }

    /// Returns `true` if there are no terms.
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }
}

/// Splits off the first term. If it's quoted, it ends at the next quote or at the end of the text.
fn next_term(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"').unwrap_or((quoted, ""));
    }
    let end = text.find(|symbol: char| symbol.is_whitespace() || symbol == '"');
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn phrases(list: &[&str]) -> Vec<Phrase> {
        list.iter().map(|phrase| phrase.split(' ').map(str::to_owned).collect()).collect()
    }

    #[rstest]
    #[case("a b", &["a", "b"], &[])]
    #[case("-a", &[], &["a"])]
    #[case("--a", &[], &["a"])]
    #[case("- a", &["a"], &[])]
    #[case("-", &[], &[])]
    #[case("a-b", &["a b"], &[])]
    #[case("john.smith 2021-03-14", &["john smith", "2021 03 14"], &[])]
    #[case("\"a b\"", &["a b"], &[])]
    #[case("-\"a b\" c", &["c"], &["a b"])]
    #[case("x \"a b", &["x", "a b"], &[])]
    #[case("x\"a b\"y", &["x", "a b", "y"], &[])]
    #[case("***", &[], &[])]
    #[case("-*** a", &["a"], &[])]
    #[case("2011 -07", &["2011"], &["07"])]
    #[case("", &[], &[])]
    #[case("\"\" \"", &[], &[])]
    fn keyword_syntax(#[case] text: &str, #[case] include: &[&str], #[case] exclude: &[&str]) {
        let parsed = Keywords::parse(text).unwrap();
        assert_eq!(parsed.include, phrases(include), "{text}");
        assert_eq!(parsed.exclude, phrases(exclude), "{text}");
    }

    #[test]
    fn more_than_32_terms_are_rejected() {
        assert!(Keywords::parse(&"a ".repeat(32)).is_ok());
        assert_eq!(Keywords::parse(&"a ".repeat(33)), Err(TooManyTerms));
        assert!(Keywords::parse(&"* ".repeat(400)).is_ok(), "terms without words do not count");
    }
}
