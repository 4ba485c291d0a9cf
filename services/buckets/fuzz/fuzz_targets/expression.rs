//! Expressions: quotes, corrections, compilation, matching.
#![no_main]

use buckets::model::{Expression, ExpressionError};
use libfuzzer_sys::fuzz_target;

/// Maximum length in characters.
const LONGEST: usize = 1_000;

fuzz_target!(|text: &str| {
    if text.chars().count() > LONGEST {
        return;
    }
    let plain = Expression::parse(text, false);
    let corrected = Expression::parse(text, true);
    for parsed in [&plain, &corrected] {
        if let Err(ExpressionError::Syntax { position, .. }) = parsed {
            assert!((1..=LONGEST * 2 + 10).contains(position));
        }
    }
    if let Ok(plain) = &plain {
        assert_eq!((plain.source(), plain.notice()), (text, None));
    }
    let Ok(corrected) = corrected else { return };
    assert_eq!(corrected.notice().is_none(), corrected.source() == text);
    let again = Expression::parse(corrected.source(), false)
        .expect("the corrected expression can be parsed");
    for name in ["", "a", "dump-2018.tar.gz", "x\ny", "ÄÖ ß\u{301}", text] {
        assert_eq!(corrected.matches(name), again.matches(name));
    }
    if plain.is_err() {
        assert!(corrected.notice().is_some());
    }
});
