//! Writes the addresses for a benchmark, one per line, in pseudo-random order. Every run writes the
//! same addresses.
//!
//! Usage: `addresses NUMBER`, `addresses further SIZE KNOWN ROUND`, or `addresses dense NUMBER
//! PREFIXES SIZE`.
//!
//! In the first form, half of the addresses are at five large domains, the others at 100,000 small
//! ones. Their lengths are realistic. The second form writes SIZE addresses. Half of them are among
//! the first KNOWN of the first form and half after them, and they differ for each ROUND. The third
//! form hashes NUMBER addresses and finds the first PREFIXES 6-character prefixes that exactly SIZE
//! addresses share. It writes these addresses, each after its prefix and a space. At 200 million,
//! there are 12 prefixes with 30 addresses.

use std::io::{BufWriter, Write};

use domain::Sha1Digest;

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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default: u64| {
        arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    if arguments.first().is_some_and(|word| word == "dense") {
        write_dense(number(1, 200_000_000), number(2, 12), number(3, 30))
    } else if arguments.first().is_some_and(|word| word == "further") {
        let (size, known, round) = (number(1, 300_000), number(2, 1_000_000), number(3, 1));
        let places = round * size..(round + 1) * size;
        write_sparse(places.map(|place| match place % 2 {
            0 => mixed(place ^ 0x5EED) % known.max(1),
            _ => known + place,
        }))
    } else {
        write_sparse(0..number(0, 1_000_000))
    }
}

fn write_sparse(numbers: impl Iterator<Item = u64>) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    for number in numbers {
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

fn prefix(address: &str) -> usize {
    let [a, b, c, ..] = Sha1Digest::of(address).0;
    usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c)
}

fn write_dense(number: u64, prefixes: u64, size: u64) -> std::io::Result<()> {
    let mut counts = vec![0_u8; 1 << 24];
    let address = |n: u64| format!("d{n}@dense.example");
    for n in 0..number {
        let count = &mut counts[prefix(&address(n))];
        *count = count.saturating_add(1);
    }
    let mut left = prefixes;
    for count in &mut counts {
        let chosen = left > 0 && u64::from(*count) == size;
        left -= u64::from(chosen);
        *count = u8::from(chosen);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for n in 0..number {
        let address = address(n);
        let prefix = prefix(&address);
        if counts[prefix] == 1 {
            writeln!(out, "{prefix:06X} {address}")?;
        }
    }
    out.flush()
}
