//! Bech32 (BIP-173), Bech32m (BIP-350) and CashAddr: three checksums over five-bit groups.

pub(super) const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// The final constant of the Bech32 checksum.
pub const BECH32: u32 = 1;
/// The final constant of the Bech32m checksum.
pub const BECH32M: u32 = 0x2bc8_30a3;

/// Appends `prefix`, `1`, `version` (if any) and `payload` in five-bit groups, then six checksum
/// characters.
///
/// We don't enforce the 90-character limit, because Cardano addresses are longer.
pub fn write(prefix: &str, version: Option<u8>, payload: &[u8], constant: u32, out: &mut String) {
    let mut groups: Vec<u8> = version.into_iter().collect();
    regroup(payload, &mut groups);
    let mut state = 1;
    prefix.bytes().for_each(|byte| state = step(state, byte >> 5));
    state = step(state, 0);
    prefix.bytes().for_each(|byte| state = step(state, byte & 31));
    groups.iter().for_each(|group| state = step(state, *group));
    (0..6).for_each(|_| state = step(state, 0));
    state ^= constant;
    groups.extend((0..6).rev().map(|position| (state >> (5 * position)) as u8 & 31));
    out.push_str(prefix);
    out.push('1');
    out.extend(groups.iter().map(|group| char::from(ALPHABET[usize::from(*group)])));
}

fn step(state: u32, group: u8) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let mut next = (state & 0x1ff_ffff) << 5 ^ u32::from(group);
    for (bit, value) in GENERATOR.iter().enumerate() {
        if state >> 25 >> bit & 1 == 1 {
            next ^= value;
        }
    }
    next
}

/// Appends a CashAddr with its prefix. `kind` is the version byte.
pub fn write_cash(prefix: &str, kind: u8, hash: &[u8], out: &mut String) {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(hash);
    let mut groups = Vec::new();
    regroup(&bytes, &mut groups);
    let mut state = 1;
    prefix.bytes().for_each(|byte| state = cash_step(state, byte & 31));
    state = cash_step(state, 0);
    groups.iter().for_each(|group| state = cash_step(state, *group));
    (0..8).for_each(|_| state = cash_step(state, 0));
    state ^= 1;
    groups.extend((0..8).rev().map(|position| (state >> (5 * position)) as u8 & 31));
    out.push_str(prefix);
    out.push(':');
    out.extend(groups.iter().map(|group| char::from(ALPHABET[usize::from(*group)])));
}

fn cash_step(state: u64, group: u8) -> u64 {
    const GENERATOR: [u64; 5] =
        [0x98_f2bc_8e61, 0x79_b76d_99e2, 0xf3_3e5f_b3c4, 0xae_2eab_e2a8, 0x1e_4f43_e470];
    let mut next = (state & 0x07_ffff_ffff) << 5 ^ u64::from(group);
    for (bit, value) in GENERATOR.iter().enumerate() {
        if state >> 35 >> bit & 1 == 1 {
            next ^= value;
        }
    }
    next
}

/// Splits bytes into five-bit groups, padding the last one with zeros.
fn regroup(bytes: &[u8], groups: &mut Vec<u8>) {
    let (mut held, mut bits) = (0u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            groups.push((held >> bits) as u8 & 31);
        }
    }
    if bits > 0 {
        groups.push((held << (5 - bits)) as u8 & 31);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segwit(prefix: &str, version: u8, program: &str) -> String {
        let constant = if version == 0 { BECH32 } else { BECH32M };
        let mut out = String::new();
        write(prefix, Some(version), &hex::decode(program).unwrap(), constant, &mut out);
        out
    }

    #[test]
    fn segwit_addresses_match_bip_173_and_350() {
        let hash = "751e76e8199196d454941c45d1b3a323f1433bd6";
        assert_eq!(segwit("bc", 0, hash), "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4");
        let key = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        assert_eq!(
            segwit("bc", 1, key),
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"
        );
        assert_eq!(
            segwit("tb", 0, "1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"),
            "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7"
        );
    }

    #[test]
    fn cash_address_of_a_hash_is_the_published_one() {
        let hash = hex::decode("f5bf48b397dae70be82b3cca4793f8eb2b6cdac9").unwrap();
        let mut address = String::new();
        write_cash("bitcoincash", 0, &hash, &mut address);
        assert_eq!(address, "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2");
    }
}
