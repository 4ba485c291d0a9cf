//! The header parser, with a valid checksum, so that the parser reaches the fields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passwords::model::{Header, Kind};

fuzz_target!(|bytes: &[u8]| {
    let mut whole = [0; 4096];
    let length = bytes.len().min(4096);
    whole[..length].copy_from_slice(&bytes[..length]);
    let _ = Header::from_bytes(&whole);
    let number = |at: usize| u64::from(bytes.get(at).copied().unwrap_or_default());
    let header = Header {
        kind: if number(0) % 2 == 0 { Kind::Sha1 } else { Kind::Ntlm },
        entries: number(1) << 32,
        file_length: number(2) << 40,
        built_at: number(3) as i64 - 100,
        smallest_bucket: number(4) as u32,
        largest_bucket: number(5) as u32,
        index_digest: [number(6) as u8; 20],
        corpus_id: [number(7) as u8; 20],
        note: String::from_utf8_lossy(bytes).into_owned(),
    };
    let whole: [u8; 4096] = header.to_bytes().try_into().expect("a header has 4096 bytes");
    let read = Header::from_bytes(&whole).expect("what was written can be read");
    assert!(header.note.starts_with(&read.note));
});
