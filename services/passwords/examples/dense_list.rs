//! Writes the hash list of a bench: few prefixes, each as full as those of a real corpus.
//!
//! Usage: `dense_list PREFIXES ENTRIES ordered|shuffled`, on standard output. Prefixes begin at
//! 0, a bucket holds `ENTRIES / PREFIXES` entries on average, counts are mostly below 100. The
//! list is the same in every run.

use std::io::{BufWriter, Write};

use domain::Sha1Digest;

fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// A digest whose prefix is `prefix`.
fn hash(prefix: u64, number: u64) -> [u8; 20] {
    let mut hash = Sha1Digest::of(number.to_le_bytes()).0;
    hash[0] = (prefix >> 12) as u8;
    hash[1] = (prefix >> 4) as u8;
    hash[2] = (prefix << 4) as u8 | hash[2] & 15;
    hash
}

fn write(out: &mut impl Write, hash: [u8; 20], number: u64) -> std::io::Result<()> {
    let count = match mixed(number ^ 7) % 100 {
        0..=69 => 1 + number % 9,
        70..=94 => 10 + number % 90,
        95..=98 => 100 + number % 900,
        _ => 1000 + number % 1_000_000,
    };
    let mut line = [0; 40];
    for (byte, pair) in hash.iter().zip(line.chunks_exact_mut(2)) {
        pair[0] = b"0123456789ABCDEF"[usize::from(byte >> 4)];
        pair[1] = b"0123456789ABCDEF"[usize::from(byte & 15)];
    }
    out.write_all(&line)?;
    write!(out, ":{count}\r\n")
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(prefixes), Some(entries)) = (number(1), number(2)) else {
        eprintln!("usage: dense_list PREFIXES ENTRIES ordered|shuffled");
        std::process::exit(2);
    };
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    if arguments.get(3).is_some_and(|order| order == "shuffled") {
        for number in 0..entries {
            write(&mut out, hash(mixed(number) % prefixes, number), number)?;
        }
        return out.flush();
    }
    let mut of_prefix = vec![Vec::new(); prefixes as usize];
    for number in 0..entries {
        of_prefix[(mixed(number) % prefixes) as usize].push(number);
    }
    for (prefix, numbers) in of_prefix.iter().enumerate() {
        let mut hashes: Vec<([u8; 20], u64)> =
            numbers.iter().map(|number| (hash(prefix as u64, *number), *number)).collect();
        hashes.sort_unstable();
        for (hash, number) in hashes {
            write(&mut out, hash, number)?;
        }
    }
    out.flush()
}
