//! National check digits in bank account numbers.
//!
//! A rule takes the domestic number (everything after the IBAN's check digits) and writes its check
//! digits in place. It returns false if the number can't have any check digits. A number is valid
//! if its rule leaves it unchanged.

use crate::model::check::{ascii, digit, luhn, mod_11_10, mod_97, number, weighted};

/// Writes the national check digits. Returns false if the number can't have any.
pub type Rule = fn(&mut [u8]) -> bool;

fn put_two(bban: &mut [u8], at: usize, value: u32) -> bool {
    bban[at] = ascii(value / 10);
    bban[at + 1] = ascii(value);
    true
}

/// Sets the last digit so that the weighted sum is 0 modulo `modulus`.
fn close(part: &mut [u8], weights: &[i32], modulus: i32) -> bool {
    let last = part.len() - 1;
    let value = (-weighted(&part[..last], weights)).rem_euclid(modulus);
    part[last] = ascii(value as u32);
    value < 10
}

fn rest_97(bban: &[u8]) -> u32 {
    let rest = mod_97(&bban[..bban.len() - 2]);
    rest * 100 % 97
}

/// The check digits are 98 minus the remainder, which makes the whole number 1 modulo 97.
pub fn iso_97(bban: &mut [u8]) -> bool {
    let rest = rest_97(bban);
    put_two(bban, bban.len() - 2, 98 - rest)
}

/// The check digits are 97 minus the remainder, which makes the whole number 0 modulo 97.
pub fn plain_97(bban: &mut [u8]) -> bool {
    let rest = rest_97(bban);
    put_two(bban, bban.len() - 2, 97 - rest)
}

/// Belgium: the first ten digits modulo 97, with 0 replaced by 97.
pub fn belgium(bban: &mut [u8]) -> bool {
    let rest = mod_97(&bban[..10]);
    put_two(bban, 10, if rest == 0 { 97 } else { rest })
}

/// France and Monaco: the RIB key. Letters count as 1 to 9, except that S starts again at 2.
pub fn france(bban: &mut [u8]) -> bool {
    let value = |bytes: &[u8]| bytes.iter().fold(0, |value, byte| value * 10 + rib_digit(*byte));
    let sum = 89 * value(&bban[..5]) + 15 * value(&bban[5..10]) + 3 * value(&bban[10..21]);
    put_two(bban, 21, 97 - (sum % 97) as u32)
}

fn rib_digit(byte: u8) -> u64 {
    u64::from(match byte {
        b'A'..=b'I' => byte - b'A' + 1,
        b'J'..=b'R' => byte - b'J' + 1,
        b'S'..=b'Z' => byte - b'S' + 2,
        _ => byte.wrapping_sub(b'0'),
    })
}

/// Values of the letters in odd positions of an Italian number.
pub const ITALIAN_ODD: [u32; 26] =
    [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/// Returns the Italian check letter for `text`. The first position counts as odd.
pub fn italian_letter(text: &[u8]) -> u8 {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => usize::from(byte - b'A'),
        _ => digit(byte) as usize % 10,
    };
    let sum: u32 = text
        .iter()
        .enumerate()
        .map(|(position, byte)| match position % 2 {
            0 => ITALIAN_ODD[value(*byte)],
            _ => value(*byte) as u32,
        })
        .sum();
    b'A' + (sum % 26) as u8
}

/// Italy and San Marino: the leading CIN letter.
pub fn italy(bban: &mut [u8]) -> bool {
    bban[0] = italian_letter(&bban[1..]);
    true
}

/// Spain: one check digit for the bank and branch, and one for the account.
pub fn spain(bban: &mut [u8]) -> bool {
    const WEIGHTS: [i32; 10] = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];
    let control = |sum: i32| match 11 - sum % 11 {
        10 => 1,
        11 => 0,
        other => other as u32,
    };
    bban[8] = ascii(control(weighted(&bban[..8], &WEIGHTS[2..])));
    bban[9] = ascii(control(weighted(&bban[10..], &WEIGHTS)));
    true
}

/// Norway: modulo 11 over the preceding ten digits. Numbers whose check digit would be 10 are never
/// issued.
pub fn norway(bban: &mut [u8]) -> bool {
    let sum = if &bban[4..6] == b"00" {
        weighted(&bban[6..10], &[5, 4, 3, 2])
    } else {
        weighted(&bban[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2])
    };
    let value = (11 - sum % 11) % 11;
    bban[10] = ascii(value as u32);
    value < 10
}

/// Finland: the Luhn algorithm.
pub fn finland(bban: &mut [u8]) -> bool {
    bban[13] = ascii(luhn(&bban[..13]));
    true
}

/// Estonia: weights 7, 3, 1 from the right, over branch and account.
pub fn estonia(bban: &mut [u8]) -> bool {
    let sum: u32 = bban[2..15]
        .iter()
        .rev()
        .zip([7, 3, 1].iter().cycle())
        .map(|(byte, weight)| digit(*byte) * weight)
        .sum();
    bban[15] = ascii((10 - sum % 10) % 10);
    true
}

/// Poland: the last digit of the bank code is a check digit.
pub fn poland(bban: &mut [u8]) -> bool {
    close(&mut bban[..8], &[3, 9, 7, 1, 3, 9, 7], 10)
}

/// Czechia and Slovakia: prefix and account are each 0 modulo 11.
pub fn czechia(bban: &mut [u8]) -> bool {
    const WEIGHTS: [i32; 9] = [6, 3, 7, 9, 10, 5, 8, 4, 2];
    close(&mut bban[4..10], &WEIGHTS[4..], 11) && close(&mut bban[10..20], &WEIGHTS, 11)
}

/// Croatia: bank and account each end in an ISO 7064 MOD 11,10 check digit.
pub fn croatia(bban: &mut [u8]) -> bool {
    bban[6] = ascii(mod_11_10(&bban[..6]));
    bban[16] = ascii(mod_11_10(&bban[7..16]));
    true
}

const NINE_SEVEN_THREE_ONE: [i32; 15] = [9, 7, 3, 1, 9, 7, 3, 1, 9, 7, 3, 1, 9, 7, 3];

/// Hungary: bank with branch, and account, are each 0 modulo 10.
pub fn hungary(bban: &mut [u8]) -> bool {
    close(&mut bban[..8], &NINE_SEVEN_THREE_ONE, 10)
        && close(&mut bban[8..24], &NINE_SEVEN_THREE_ONE, 10)
}

/// Albania: bank and branch end in a check digit.
pub fn albania(bban: &mut [u8]) -> bool {
    close(&mut bban[..8], &NINE_SEVEN_THREE_ONE, 10)
}

/// The latest birth year of generated Icelandic account holders. This is a constant, because a seed
/// must keep producing the same numbers over time.
const LAST_ICELANDIC_YEAR: u64 = 25;

/// Returns whether the holder of a generated Icelandic account has already been born.
pub fn is_of_past_icelander(bban: &[u8]) -> bool {
    bban[21] != b'0' || number(&bban[16..18]) <= LAST_ICELANDIC_YEAR
}

/// Iceland: the holder's number ends in a modulo 11 check digit and a digit for the century.
pub fn iceland(bban: &mut [u8]) -> bool {
    let value = (11 - weighted(&bban[12..20], &[3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
    bban[20] = ascii(value as u32);
    value < 10
}

/// The Netherlands: the eleven test, in use until 2014.
pub fn netherlands(bban: &mut [u8]) -> bool {
    close(&mut bban[4..14], &[10, 9, 8, 7, 6, 5, 4, 3, 2], 11)
}

/// Subaccount digits of a German main account.
const MAIN_ACCOUNT: &[u8] = b"00";

/// Germany: each bank has its own check digit method. Only the banks for which IBANs are generated
/// are covered.
pub fn germany(bban: &mut [u8]) -> bool {
    let (bank, account) = bban.split_at_mut(8);
    match str::from_utf8(bank).unwrap_or_default() {
        "12030000" | "20050550" | "37050198" | "70150000" => {
            account[9] = ascii(luhn(&account[..9]));
            true
        }
        "10040000" | "37040044" | "50040000" => {
            account[7] = ascii(luhn(&account[1..7]));
            account[8..].copy_from_slice(MAIN_ACCOUNT);
            true
        }
        "10070000" | "50070010" | "70070010" => {
            account[0] = b'0';
            account[7] = ascii(luhn(&account[1..7]));
            account[8..].copy_from_slice(MAIN_ACCOUNT);
            true
        }
        "10090000" => {
            let sum = weighted(account, &[4, 3, 2, 7, 6, 5, 4, 3, 2]);
            account[9] = ascii(match 11 - sum % 11 {
                10 | 11 => 0,
                value => value as u32,
            });
            true
        }
        _ => true,
    }
}
