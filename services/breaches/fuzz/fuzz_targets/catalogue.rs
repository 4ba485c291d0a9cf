//! Catalogues. Accepted entries have a name, ordered dates and only allowed markup.
#![no_main]

use std::io::Cursor;

use breaches::jobs::read_catalogue;
use breaches::model::{is_allowed_markup, read_entry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(entries) = read_catalogue(Cursor::new(bytes.to_vec())) else { return };
    for entry in &entries {
        let Ok(breach) = read_entry(entry) else { continue };
        assert!((1..=64).contains(&breach.name.len()));
        assert!(breach.modified >= breach.added && breach.pwn_count >= 0);
        assert!(is_allowed_markup(&breach.description));
    }
});
