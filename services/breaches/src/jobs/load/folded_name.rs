//! Compares names of columns, fields and labels regardless of their spelling.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Removes differences between spellings of a name: case, accents and width. Other characters that
/// aren't letters or digits become spaces.
pub fn fold(text: &str) -> String {
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let mut folded = String::with_capacity(decomposed.len());
    for c in decomposed.chars().flat_map(char::to_lowercase) {
        match c {
            // Combining marks, including the voicing marks of Japanese.
            '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' => {}
            'ς' => folded.push('σ'),
            'ı' => folded.push('i'),
            c if c.is_alphanumeric() => folded.push(c),
            _ => folded.push(' '),
        }
    }
    folded
}

/// Removes the spaces from a folded name.
pub fn joined(folded: &str) -> String {
    folded.chars().filter(|c| *c != ' ').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_name_are_folded_to_one() {
        for (text, folded) in [
            ("E-Mail", "e mail"),
            ("CONTRASEN\u{303}A", "contrasena"),
            ("ŞİFRE", "sifre"),
            ("ΚΩΔΙΚΟΣ", "κωδικοσ"),
            ("ﾊﾟｽ", "ハス"),
            ("ＰＩＮ", "pin"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
        assert_eq!(joined(&fold(" E-Mail ")), "email");
    }
}
