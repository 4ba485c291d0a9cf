//! Arbitrary bytes are either rejected, or decode to entries that encode to the same bytes and
//! render to the same text with and without compression.
#![no_main]

use std::io::Read;

use flate2::read::GzDecoder;
use libfuzzer_sys::fuzz_target;
use passwords::model::{Bucket, Kind, bucket, gzip, render};

fuzz_target!(|bytes: &[u8]| {
    for kind in Kind::ALL {
        let Ok(read) = Bucket::parse(kind, bytes) else { continue };
        let _ = read.find(&[0x5B; 20]);
        if let Ok(text) = render::text(&read) {
            assert!(text.len() <= render::room(&read, 0));
            let mut packed = vec![0; gzip::room(text.len())];
            let length = gzip::encode(&read, &[], gzip::Trailer::of(&text), &mut packed)
                .expect("it was rendered");
            let mut unpacked = Vec::new();
            let mut decoder = GzDecoder::new(&packed[..length]);
            decoder.read_to_end(&mut unpacked).expect("what was packed can be unpacked");
            assert_eq!(unpacked, text);
        }
        if let Ok(entries) = read.entries(0x5BAA6) {
            let mut again = Vec::new();
            assert!(bucket::encode(kind, &entries, &mut again));
            let again = Bucket::parse(kind, &again).expect("what was encoded can be read");
            assert_eq!(again.entries(0x5BAA6), Ok(entries));
        }
    }
});
