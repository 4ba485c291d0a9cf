//! What a request carries: query, accepted codings, entity tags.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passwords::model::conditional::EntityTag;
use passwords::model::{accept, query};

fuzz_target!(|bytes: &[u8]| {
    accept::takes_gzip(bytes.split(|byte| *byte == 0));
    let _ = EntityTag::of([7; 8]).is_in(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        query::kind(Some(text));
    }
});
