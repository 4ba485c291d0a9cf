//! The parser of password lists.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passwords::model::Kind;
use passwords::model::plaintext::{self, Dialect, Encoding, Line};

fuzz_target!(|text: &[u8]| {
    for encoding in [Encoding::Utf8, Encoding::Latin1] {
        for with_counts in [false, true] {
            for line in text.split(|byte| *byte == b'\n') {
                let read = plaintext::line(line, Dialect { encoding, with_counts });
                if let Line::Password { bytes, text, count } = read {
                    assert!(!bytes.is_empty());
                    for kind in Kind::ALL {
                        plaintext::entry(kind, &bytes, &text, count);
                    }
                }
            }
        }
    }
});
