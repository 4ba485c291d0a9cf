//! Placeholder text of any length, generated incrementally with only a few hundred bytes of state.

use super::business::{BUSINESS, Slot};
use super::latin::{LATIN_BY_BYTE, OPENING};
use crate::model::random::Random;

/// The words to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// Latin words.
    Latin,
    /// Business phrases.
    Business,
}

/// The unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Words, arranged in sentences.
    Words,
    /// Paragraphs of four to eight sentences, separated by `<br>`.
    Paragraphs,
}

/// Minimum and maximum words per sentence.
const SENTENCE: (u64, u64) = (6, 14);
/// Minimum and maximum sentences per paragraph.
const PARAGRAPH: (u64, u64) = (4, 8);

/// Generates placeholder text.
pub struct Lorem {
    random: Random,
    vocabulary: Vocabulary,
    unit: Unit,
    /// Number of words or paragraphs left to generate, including the current paragraph.
    left: u64,
    /// Number of sentences left to generate in the current paragraph.
    sentences: u64,
    begun: bool,
    /// Whether Latin text starts with "Lorem ipsum".
    has_opening: bool,
}

impl Lorem {
    /// Creates a generator for `number` words or paragraphs. `number` must be at least 1.
    pub fn new(mut random: Random, vocabulary: Vocabulary, unit: Unit, number: u64) -> Self {
        let sentences = random.between(PARAGRAPH.0, PARAGRAPH.1);
        Self { random, vocabulary, unit, left: number, sentences, begun: false, has_opening: true }
    }

    /// Omits the usual opening of Latin text, because short texts would otherwise all look alike.
    pub fn without_opening(mut self) -> Self {
        self.has_opening = false;
        self
    }

    /// Appends a sentence, preceded by a separator if necessary. Returns false after the last one.
    ///
    /// Only ASCII letters, spaces, commas, full stops and `<br>` are ever appended.
    pub fn push(&mut self, out: &mut Vec<u8>) -> bool {
        match self.unit {
            Unit::Words => {
                if self.begun {
                    out.push(b' ');
                }
                self.left -= self.sentence(self.left, out).min(self.left);
            }
            Unit::Paragraphs => {
                if self.begun {
                    let new_paragraph = self.sentences == 0;
                    if new_paragraph {
                        self.sentences = self.random.between(PARAGRAPH.0, PARAGRAPH.1);
                    }
                    out.extend_from_slice(if new_paragraph { b"<br>" } else { b" " });
                }
                self.sentence(u64::MAX, out);
                self.sentences -= 1;
                if self.sentences == 0 {
                    self.left -= 1;
                }
            }
        }
        self.begun = true;
        self.left > 0
    }

    /// Appends a sentence of up to `most` words, and returns the number of words.
    fn sentence(&mut self, most: u64, out: &mut Vec<u8>) -> u64 {
        let start = out.len();
        let words = match self.vocabulary {
            Vocabulary::Latin => self.latin(most, out),
            Vocabulary::Business => self.business(most, out),
        };
        out[start].make_ascii_uppercase();
        if let Some(last) = out.last_mut() {
            *last = b'.';
        }
        words
    }

    /// Appends words, each followed by a space and some also by a comma. Returns the number of
    /// words.
    fn latin(&mut self, most: u64, out: &mut Vec<u8>) -> u64 {
        let count = self.random.between(SENTENCE.0, SENTENCE.1).min(most);
        // One word in eight is followed by a comma, except for the first two and the last two.
        let commas = self.random.bits() & self.random.bits() & self.random.bits();
        let has_opening = self.has_opening && !self.begun;
        let opening = if has_opening { &OPENING } else { &[][..] };
        let mut drawn = 0;
        for position in 0..count {
            if position % 8 == 0 {
                drawn = self.random.bits();
            }
            let word = match opening.get(position as usize) {
                Some(word) => word,
                None => LATIN_BY_BYTE[(drawn & 0xff) as usize],
            };
            drawn >>= 8;
            out.extend_from_slice(word.as_bytes());
            let inside =
                position >= 2 && position + 2 < count && position as usize >= opening.len();
            if inside && commas >> position & 1 == 1 {
                out.push(b',');
            }
            out.push(b' ');
        }
        count
    }

    fn business(&mut self, most: u64, out: &mut Vec<u8>) -> u64 {
        let pattern = *self.random.pick(&BUSINESS);
        let count = (pattern.len() as u64).min(most);
        for slot in &pattern[..count as usize] {
            let word = match slot {
                Slot::Word(word) => word,
                Slot::Any(words) => *self.random.pick(words),
            };
            out.extend_from_slice(word.as_bytes());
            out.push(b' ');
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    fn text(vocabulary: Vocabulary, unit: Unit, number: u64) -> String {
        let random = Seed::parse("lorem").unwrap().random("test", "");
        let mut lorem = Lorem::new(random, vocabulary, unit, number);
        let mut out = Vec::new();
        while lorem.push(&mut out) {}
        String::from_utf8(out).unwrap()
    }

    const BOTH: [Vocabulary; 2] = [Vocabulary::Latin, Vocabulary::Business];

    #[test]
    fn text_has_the_requested_number_of_words() {
        for vocabulary in BOTH {
            for number in [1, 2, 5, 6, 7, 14, 15, 100, 4_999] {
                let text = text(vocabulary, Unit::Words, number);
                assert_eq!(text.split(' ').count() as u64, number, "{text}");
                assert!(text.starts_with(|c: char| c.is_ascii_uppercase()) && text.ends_with('.'));
                assert!(!text.contains("..") && !text.contains(",."), "{text}");
            }
        }
        assert_eq!(text(Vocabulary::Latin, Unit::Words, 1), "Lorem.");
        assert!(
            text(Vocabulary::Latin, Unit::Words, 50).starts_with("Lorem ipsum dolor sit amet ")
        );
    }

    #[test]
    fn paragraphs_have_sentences_of_several_words() {
        for vocabulary in BOTH {
            let text = text(vocabulary, Unit::Paragraphs, 200);
            let paragraphs: Vec<_> = text.split("<br>").collect();
            assert_eq!(paragraphs.len(), 200);
            for paragraph in paragraphs {
                let sentences: Vec<_> = paragraph.strip_suffix('.').unwrap().split(". ").collect();
                assert!((4..=8).contains(&sentences.len()), "{paragraph}");
                for sentence in sentences {
                    assert!((6..=14).contains(&sentence.split(' ').count()), "{sentence}");
                    assert!(sentence.starts_with(|c: char| c.is_ascii_uppercase()), "{sentence}");
                }
            }
        }
    }

    #[test]
    fn largest_text_is_generated_lazily() {
        let random = Seed::parse("lorem").unwrap().random("test", "");
        let mut lorem = Lorem::new(random, Vocabulary::Latin, Unit::Words, i32::MAX as u64);
        let mut out = Vec::new();
        assert!(lorem.push(&mut out));
        assert!(out.len() < 300 && size_of::<Lorem>() < 1_024);
    }
}
