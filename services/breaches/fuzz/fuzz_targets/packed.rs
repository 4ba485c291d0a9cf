//! Encodings and compressed inputs. Reading ends with text or an error, in bounded memory.
#![no_main]

use std::io::{Cursor, Read};

use breaches::jobs::{TextEncoding, decoded};
use libfuzzer_sys::fuzz_target;

/// A few bytes can decompress to very many.
const MAX: u64 = 1 << 20;

fuzz_target!(|data: (u8, Vec<u8>)| {
    let (kind, bytes) = data;
    let encoding = match kind % 4 {
        0 => TextEncoding::Auto,
        1 => TextEncoding::Windows1252,
        2 => TextEncoding::Utf16Le,
        _ => TextEncoding::Utf16Be,
    };
    let plain = !bytes.starts_with(&[0x1f, 0x8b]) && !bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let size = bytes.len();
    let Ok(text) = decoded(Cursor::new(bytes), encoding) else { return };
    let mut read = Vec::new();
    let ended = text.take(MAX).read_to_end(&mut read);
    if plain {
        assert!(ended.is_ok());
        assert!(read.len() <= 3 * size + 1);
    }
});
