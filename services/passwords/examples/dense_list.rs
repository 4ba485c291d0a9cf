//! Writes a hash list for benchmarks, with as many entries per prefix as in a real corpus.
//!
//! Usage: `dense_list PREFIXES ENTRIES ordered|shuffled`. Writes to standard output. Prefixes start
//! at 0, a bucket has about `ENTRIES / PREFIXES` entries, and most counts are below 100. The list
//! is the same in every run. Memory use does not depend on its length.

use std::io::{BufWriter, Write};

fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

fn count(number: u64) -> u64 {
    match mixed(number ^ 7) % 100 {
        0..=69 => 1 + number % 9,
        70..=94 => 10 + number % 90,
        95..=98 => 100 + number % 900,
        _ => 1000 + number % 1_000_000,
    }
}

/// Writes the lowest `length` hexadecimal digits of a number, most significant digit first.
fn digits(number: u64, text: &mut [u8]) {
    for (at, digit) in text.iter_mut().rev().enumerate() {
        *digit = b"0123456789ABCDEF"[(number >> (4 * at)) as usize & 15];
    }
}

/// Writes an entry that consists of this prefix and the 60 bits of `next`.
fn write(out: &mut impl Write, prefix: u64, next: u64, number: u64) -> std::io::Result<()> {
    let mut line = [0; 64];
    let random = mixed(number ^ 0xABCD);
    digits(prefix, &mut line[..5]);
    digits(next, &mut line[5..20]);
    digits(random, &mut line[20..36]);
    digits(mixed(random), &mut line[36..40]);
    line[40] = b':';
    let count = count(number);
    let length = count.ilog10() as usize + 1;
    let mut rest = count;
    for digit in line[41..41 + length].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    line[41 + length..43 + length].copy_from_slice(b"\r\n");
    out.write_all(&line[..43 + length])
}

/// Returns the number of entries of a prefix, which varies randomly around the mean.
fn size(prefix: u64, mean: u64) -> u64 {
    let chance: u64 = (0..4).map(|at| mixed(prefix * 4 + at) >> 48).sum();
    let deviation = (chance as f64 / f64::from(1 << 17) - 1.0) * 1.73 * (mean as f64).sqrt();
    (mean as f64 + deviation).round().max(1.0) as u64
}

fn main() -> std::io::Result<()> {
    const SPACE: u64 = 1 << 60;
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(prefixes), Some(entries)) = (number(1), number(2)) else {
        eprintln!("usage: dense_list PREFIXES ENTRIES ordered|shuffled");
        std::process::exit(2);
    };
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    if arguments.get(3).is_some_and(|order| order == "shuffled") {
        for number in 0..entries {
            let random = mixed(number);
            write(&mut out, random % prefixes, mixed(random) % SPACE, number)?;
        }
        return out.flush();
    }
    let mut number = 0;
    for prefix in 0..prefixes {
        let n = size(prefix, entries / prefixes);
        // Each digest is random within its own interval, so the list is sorted.
        for part in 0..n {
            number += 1;
            write(&mut out, prefix, SPACE / n * part + mixed(number) % (SPACE / n), number)?;
        }
    }
    out.flush()
}
