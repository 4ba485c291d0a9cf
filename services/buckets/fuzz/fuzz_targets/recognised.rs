//! Sources whose format is told by their first bytes, packed ones included.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buckets_fuzz::listing(bytes, None));
