//! Sources with format detection, including compressed ones.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buckets_fuzz::listing(bytes, None));
