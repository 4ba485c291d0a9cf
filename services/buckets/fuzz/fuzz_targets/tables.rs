//! The reader of CSV and TSV.
#![no_main]

use buckets::jobs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Csv, Format::Tsv] {
        buckets_fuzz::listing(bytes, Some(format));
    }
});
