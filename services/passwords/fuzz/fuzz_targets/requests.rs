//! The query and entity tags of a request.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shell::EntityTag;

fuzz_target!(|bytes: &[u8]| {
    let _ = EntityTag::of_digest(&[7; 8]).is_listed([bytes]);
    if let Ok(text) = std::str::from_utf8(bytes) {
        passwords::kind(Some(text));
    }
});
