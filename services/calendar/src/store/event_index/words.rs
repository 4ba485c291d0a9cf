//! An index of the words in all events.

use roaring::RoaringBitmap;

use super::posting::Posting;
use super::vocabulary::Vocabulary;

/// Overhead per word in bytes, in addition to its text. Covers the number, offset and posting.
const WORD_BYTES: usize = 128;

/// Unused words are dropped once they take up more than this number of bytes, and more than the
/// words still in use.
const MAX_UNUSED: usize = 4 << 20;

/// Maps words to the positions of the events that contain them.
#[derive(Default)]
pub struct WordIndex {
    vocabulary: Vocabulary,
    /// Postings, indexed by word number.
    postings: Vec<Posting>,
    /// Bytes used by words that appear in events.
    used: usize,
    /// Bytes used by words that no longer appear in any event.
    unused: usize,
}

impl WordIndex {
    /// Indexes the words of a case-folded text for the event at a position.
    pub fn add(&mut self, at: u32, text: &str) {
        for word in text.split_whitespace() {
            let number = self.vocabulary.number(word) as usize;
            if number >= self.postings.len() {
                self.postings.resize_with(number + 1, Posting::default);
                self.used += bytes(word);
            } else if self.postings[number].is_empty() {
                self.used += bytes(word);
                self.unused -= bytes(word);
            }
            self.postings[number].insert(at);
        }
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.used + self.unused + self.postings.iter().map(Posting::bytes).sum::<usize>()
    }

    /// Removes the words of a case-folded text from the event at a position.
    pub fn remove(&mut self, at: u32, text: &str) {
        for word in text.split_whitespace() {
            let Some(number) = self.vocabulary.find(word) else { continue };
            let posting = &mut self.postings[number as usize];
            let was_used = !posting.is_empty();
            posting.remove(at);
            if was_used && posting.is_empty() {
                self.used -= bytes(word);
                self.unused += bytes(word);
            }
        }
    }

    /// Drops unused words if there are many of them.
    pub fn drop_unused(&mut self) {
        if self.unused <= self.used.max(MAX_UNUSED) {
            return;
        }
        let (mut vocabulary, mut postings) = (Vocabulary::default(), Vec::new());
        for (word, posting) in self.vocabulary.words().zip(std::mem::take(&mut self.postings)) {
            if !posting.is_empty() {
                vocabulary.number(word);
                postings.push(posting);
            }
        }
        (self.vocabulary, self.postings, self.unused) = (vocabulary, postings, 0);
    }

    /// Returns the numbers of the words that contain a substring, and the total number of events in
    /// their postings.
    pub fn with_part(&self, part: &str) -> (Vec<usize>, usize) {
        let words = self.vocabulary.with_part(part);
        let events = words.iter().map(|word| self.postings[*word].len()).sum();
        (words, events)
    }

    /// Returns the events that contain any of these words.
    pub fn events_with(&self, words: &[usize]) -> RoaringBitmap {
        let mut set = RoaringBitmap::default();
        words.iter().for_each(|word| self.postings[*word].add_to(&mut set));
        set
    }
}

/// Returns a word's memory use in bytes.
fn bytes(word: &str) -> usize {
    word.len() + WORD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &WordIndex, word: &str) -> Vec<u32> {
        words.events_with(&words.with_part(word).0).iter().collect()
    }

    #[test]
    fn words_without_events_are_dropped() {
        let mut index = WordIndex::default();
        index.add(1, "kept shared");
        index.add(2, "old shared");
        let text = |round: i64| {
            let words = (0..20_000).map(|word| format!("w{round}x{word}y"));
            words.chain(["shared".to_owned()]).collect::<Vec<_>>().join(" ")
        };
        let mut was = "old shared".to_owned();
        let mut most = 0;
        for round in 1..=20 {
            let now = text(round);
            index.remove(2, &was);
            index.add(2, &now);
            index.drop_unused();
            most = most.max(index.vocabulary.words().count());
            assert_eq!(found(&index, "shared"), [1, 2]);
            assert_eq!(found(&index, "kept"), [1]);
            assert_eq!(found(&index, &format!("w{round}x7y")), [2]);
            assert_eq!(found(&index, &format!("w{}x7y", round - 1)), [0_u32; 0]);
            was = now;
        }
        assert!(most < 100_000, "{most}");
        // If an unused word is added again before it is dropped, it counts as used.
        index.remove(2, &was);
        index.add(2, "old shared");
        index.drop_unused();
        let words = ["kept", "shared", "old"];
        assert_eq!(index.used, words.map(bytes).iter().sum::<usize>());
        assert_eq!(found(&index, "old"), [2]);
    }
}
