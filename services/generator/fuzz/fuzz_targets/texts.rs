//! Text transformations: they must terminate, keep their invariants, and replace text like the
//! standard library.
#![no_main]

use generator::model::text::{CaseType, Replacing, change_case, humanize};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, &str, &str)| {
    let (find, replacement, text) = data;
    let count = text.chars().count();
    for case in [CaseType::Lower, CaseType::Upper, CaseType::Sentence, CaseType::Title] {
        let changed = change_case(text, case);
        assert_eq!(changed.chars().count(), count);
        assert_eq!(change_case(&changed, case), changed);
    }
    let sentence = humanize(text);
    assert!(sentence.chars().count() <= 2 * count);
    if !find.is_empty() {
        let mut replacing = Replacing::new(text.into(), find.into(), replacement.into());
        let mut out = String::new();
        loop {
            let (before, replacement, more) = replacing.step();
            out.push_str(before);
            out.push_str(replacement);
            if !more {
                break;
            }
        }
        assert_eq!(out, text.replace(find, replacement));
    }
});
