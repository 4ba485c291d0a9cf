//! The reader of S3 listings, versions 1 and 2.
#![no_main]

use buckets::jobs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| buckets_fuzz::listing(bytes, Some(Format::S3)));
