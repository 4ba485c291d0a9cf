//! Text search: folding columns and queries, and splitting queries into words.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Folds a name for comparison, by composing it and converting it to lower case.
pub fn fold_name(text: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let lower = composed.to_lowercase();
    ComposingNormalizerBorrowed::new_nfc().normalize(&lower).into_owned()
}

/// Folds a string for search by removing case, accents, and variants such as ligatures. This is
/// idempotent.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let apart = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let bare: String = apart.chars().filter(|c| !is_accent(*c)).collect();
    let mut plain = String::with_capacity(bare.len());
    for c in bare.to_lowercase().chars() {
        match c {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            'ø' => plain.push('o'),
            'đ' | 'ð' => plain.push('d'),
            'ł' => plain.push('l'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            'ς' => plain.push('σ'),
            c => plain.push(c),
        }
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(&plain).into_owned()
}

/// Returns whether a character is a mark that people usually don't type, such as an accent or a
/// vowel point in Hebrew or Arabic. Marks that change the letter itself, as in Japanese or Thai,
/// don't count.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}')
}

/// The case-folded words in a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Words that must appear.
    pub wanted: Vec<String>,
    /// Words that must not appear.
    pub unwanted: Vec<String>,
}

impl Words {
    /// Maximum number of words in a query.
    pub const MAX: usize = 16;

    /// Returns the number of words, including unwanted ones.
    pub fn count(&self) -> usize {
        self.wanted.len() + self.unwanted.len()
    }

    /// Splits a query. Words are separated by whitespace, `"…"` is a phrase, and `-` excludes a
    /// word. Within phrases, words are separated by a single space, as in the search text.
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
        assert_eq!(words.wanted, ["jazz", "late night", "arzte"]);
        assert_eq!(words.unwanted, ["rock", "open air"]);
    }

    #[test]
    fn folding_removes_case_and_accents() {
        for (text, folded) in [
            ("Zürich", "zurich"),
            ("U\u{308}BER", "uber"),
            ("Straße STRASSE ẞ", "strasse strasse ss"),
            ("İstanbul ısı", "istanbul isi"),
            ("Ångström Łódź Øre Ærø", "angstrom lodz ore aero"),
            ("Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ οδυσσευσ"),
            ("Ёлка Йога", "елка иога"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("ﬁn Ｊａｚｚ", "fin jazz"),
            ("がっこう パン", "がっこう パン"),
            ("서울 ไทย हिन्दी", "서울 ไทย हिन्दी"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
            assert_eq!(fold(&fold(text)), folded, "{text}");
            assert_eq!(fold(&fold_name(text)), folded, "{text}");
        }
    }

    #[test]
    fn names_keep_their_accents() {
        assert_eq!(fold_name("U\u{308}BER"), "über");
    }
}
