//! The parser of hash lists: parsing a list as a whole and line by line must give the same result.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passwords::model::Kind;
use passwords::model::lines::{self, Form};

fuzz_target!(|text: &[u8]| {
    for kind in Kind::ALL {
        for form in [Form::Whole, Form::Suffix(0x5BAA6)] {
            let parsed = lines::parse(text, kind, form, true);
            let _ = lines::kind_of(text, form);
            let (mut skipped, mut dropped) = (0, 0);
            for line in text.split(|byte| *byte == b'\n') {
                match lines::line(line, kind, form) {
                    Ok(Some(entry)) if entry.count == 0 => dropped += 1,
                    Ok(_) => {}
                    Err(_) => skipped += 1,
                }
            }
            assert_eq!((parsed.skipped, parsed.dropped), (skipped, dropped));
            assert!(parsed.entries.iter().all(|entry| entry.count > 0));
        }
    }
});
