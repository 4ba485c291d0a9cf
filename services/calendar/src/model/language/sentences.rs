//! Joins text into sentences.

use super::languages::Language;

/// Punctuation that ends a sentence.
const ENDS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];

/// Punctuation that includes a space.
const WIDE: [char; 3] = ['。', '！', '？'];

impl Language {
    /// Turns text into a sentence. Text that already ends with a full stop, such as `14 березня
    /// 2027 р.`, doesn't get another one.
    pub fn sentence(self, text: &str) -> String {
        if text.ends_with(ENDS) { text.to_owned() } else { (self.words().sentence)(text) }
    }
}

/// Joins two sentences. A full-width stop isn't followed by a space.
pub fn sentences(first: &str, second: &str) -> String {
    let space = if first.ends_with(WIDE) { "" } else { " " };
    format!("{first}{space}{second}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_one_stop_and_no_space_after_a_wide_one() {
        for (language, text, expected) in [
            (Language::Uk, "14 березня 2027 р.", "14 березня 2027 р. Концерт"),
            (Language::De, "Kraus & Co.", "Kraus & Co. Концерт"),
            (Language::En, "Cancelled", "Cancelled. Концерт"),
            (Language::Ja, "中止", "中止。Концерт"),
            (Language::Zh, "真的吗？", "真的吗？Концерт"),
        ] {
            assert_eq!(sentences(&language.sentence(text), "Концерт"), expected);
        }
    }
}
