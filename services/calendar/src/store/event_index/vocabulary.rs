//! All words that appear in events, searchable by substring.

use std::collections::HashMap;

use memchr::memmem::Finder;

/// Separates words, which never contain whitespace.
const SEPARATOR: u8 = b'\n';

/// Words, numbered in order of first appearance.
#[derive(Debug, Default)]
pub struct Vocabulary {
    numbers: HashMap<Box<str>, u32>,
    /// All words, each followed by a separator.
    text: Vec<u8>,
    /// Offset of each word in the text.
    starts: Vec<usize>,
}

impl Vocabulary {
    /// Returns a word's number, adding the word if it is new.
    pub fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(word.into(), number);
        self.starts.push(self.text.len());
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(SEPARATOR);
        number
    }

    /// Returns all words, ordered by number.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.text.split(|byte| *byte == SEPARATOR).take(self.starts.len());
        words.map(|word| std::str::from_utf8(word).unwrap_or_default())
    }

    /// Returns a word's number, if the word is known.
    pub fn find(&self, word: &str) -> Option<u32> {
        self.numbers.get(word).copied()
    }

    /// Returns the numbers of all words that contain a substring. The substring must not contain
    /// whitespace.
    pub fn with_part(&self, part: &str) -> Vec<usize> {
        let finder = Finder::new(part);
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(at) = finder.find(&self.text[from..]) {
            let number = self.starts.partition_point(|start| *start <= from + at) - 1;
            found.push(number);
            match self.starts.get(number + 1) {
                Some(next) => from = *next,
                None => break,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substring_finds_each_word_once() {
        let mut vocabulary = Vocabulary::default();
        let words = ["banana", "an", "x", "panama", "東京都"];
        for (number, word) in words.iter().enumerate() {
            assert_eq!(vocabulary.number(word) as usize, number);
            assert_eq!(vocabulary.number(word) as usize, number);
        }
        assert_eq!(vocabulary.with_part("an"), [0, 1, 3]);
        assert_eq!(vocabulary.with_part("京"), [4]);
        assert_eq!(vocabulary.with_part("nx"), [0_usize; 0]);
        assert_eq!((vocabulary.find("x"), vocabulary.find("y")), (Some(2), None));
        assert!(vocabulary.words().eq(words));
    }
}
