//! The parser of keywords.
#![no_main]

use buckets::model::words::{self, LONGEST_WORD};
use buckets::model::{Keywords, MOST_TERMS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parts: Vec<String> = text.split_whitespace().flat_map(words::of).collect();
    assert_eq!(words::of(text), parts, "white space separates words");
    let Ok(parsed) = Keywords::parse(text) else { return };
    assert!(parsed.include.len() + parsed.exclude.len() <= MOST_TERMS);
    for phrase in parsed.include.iter().chain(&parsed.exclude) {
        assert!(!phrase.is_empty());
        assert!(phrase.iter().all(|word| !word.is_empty() && word.len() <= LONGEST_WORD));
    }
    let said: usize = parsed.include.iter().chain(&parsed.exclude).map(Vec::len).sum();
    assert_eq!(said, parts.len(), "no word is lost or invented");
});
