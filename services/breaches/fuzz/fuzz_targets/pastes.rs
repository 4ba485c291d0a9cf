//! Lines of pastes.
#![no_main]

use batch::Line;
use breaches::jobs::read_paste;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let _ = read_paste(1, &Line::Bytes(line));
});
