//! Writes the addresses of a bench, one a line, in no order; the same ones in every run.
//!
//! Usage: `addresses NUMBER`. Half of them lie at five large domains, the others at 100 000 small
//! ones; lengths are those of real mailboxes.

use std::io::{BufWriter, Write};

const LARGE: [&str; 5] =
    ["mail.example", "post.example", "inbox.example", "letters.example", "envelope.example"];
const NAMES: [&str; 16] = [
    "ada", "benjamin", "cleo", "dara", "emil", "fay", "gustav", "hanna", "ivo", "june", "kai",
    "leonora", "milo", "nora", "otto", "pia",
];

/// Spreads a number over all 64 bits.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ z >> 27
}

fn main() -> std::io::Result<()> {
    let wanted =
        std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(1_000_000);
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    for number in 0..wanted {
        let random = mixed(number);
        let name = NAMES[(random % 16) as usize];
        if random >> 63 == 0 {
            let domain = LARGE[(random >> 8) as usize % LARGE.len()];
            writeln!(out, "{name}{number}@{domain}")?;
        } else {
            writeln!(out, "{name}{number}@company{}.example", (random >> 8) % 100_000)?;
        }
    }
    out.flush()
}
