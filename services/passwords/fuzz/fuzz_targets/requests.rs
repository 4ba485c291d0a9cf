//! What a request carries: query, entity tags.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passwords::EntityTag;

fuzz_target!(|bytes: &[u8]| {
    let _ = EntityTag::of([7; 8]).is_in(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        passwords::kind(Some(text));
    }
});
