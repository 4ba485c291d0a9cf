//! Text search: folding for columns and queries alike, and the words of a query.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Folds a text for comparison: composed form, lower case.
pub fn fold(text: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let lower = composed.to_lowercase();
    ComposingNormalizerBorrowed::new_nfc().normalize(&lower).into_owned()
}

/// The words of a query, folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Each must occur.
    pub wanted: Vec<String>,
    /// None may occur.
    pub unwanted: Vec<String>,
}

impl Words {
    /// The most words that a list is asked for.
    pub const MOST: usize = 16;

    /// Returns the number of words, unwanted ones included.
    pub fn count(&self) -> usize {
        self.wanted.len() + self.unwanted.len()
    }

    /// Splits a query: blanks part words, `"…"` keeps a phrase together, `-` excludes. Words of a
    /// phrase are parted by one blank, as in the texts that are searched.
    pub fn parse(query: &str) -> Words {
        let mut words = Words::default();
        let folded = fold(query);
        let mut rest = folded.trim_start();
        while !rest.is_empty() {
            let excluded = rest.starts_with('-') && rest.len() > 1;
            if excluded {
                rest = &rest[1..];
            }
            let (word, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
            };
            let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
            if !word.is_empty() {
                let list = if excluded { &mut words.unwanted } else { &mut words.wanted };
                list.push(word);
            }
            rest = after.trim_start();
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_split_into_words() {
        let words = Words::parse("  Jazz \"Late  Night\" -Rock -\"open air\" - ÄRZTE");
        assert_eq!(words.wanted, ["jazz", "late night", "ärzte"]);
        assert_eq!(words.unwanted, ["rock", "open air"]);
    }

    #[test]
    fn folding_joins_composed_and_decomposed_forms() {
        assert_eq!(fold("U\u{308}BER"), "über");
    }
}
