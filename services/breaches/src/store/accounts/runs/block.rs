//! Encodes accounts in blocks. An account consists of its key (8 bytes), domain id, the length and
//! text of the local part, and the number of breaches followed by their ids (2 bytes each). All
//! other numbers are varints with seven bits per byte.
//!
//! A block's number is its run id followed by the upper bits of its lowest key. Keys with the same
//! upper bits share a block.

use database::DatabaseError;

use crate::store::accounts::new_account::NewAccount;

/// Block size in bytes. Four blocks fit in an 8 KiB page without overflow pages.
pub const SIZE: usize = 1_950;

/// Number of bits of the key in the block number.
const KEY_BITS: u32 = 40;
/// Highest possible run id.
pub const MAX_RUN: i64 = i64::MAX >> KEY_BITS;

/// Returns the number of a block whose lowest key is `key`. The block that may contain `key` is the
/// one with the highest number that doesn't exceed this.
pub fn number(run: i64, key: i64) -> i64 {
    run << KEY_BITS | prefix(key)
}

/// Returns the upper bits of a key.
fn prefix(key: i64) -> i64 {
    ((key.cast_unsigned() ^ 1 << 63) >> (u64::BITS - KEY_BITS)).cast_signed()
}

/// An encoded block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Its lowest key.
    pub first: i64,
    /// Its encoded accounts.
    pub data: Vec<u8>,
}

/// Packs accounts into blocks. They must be added in key order.
#[derive(Debug, Default)]
pub struct BlockWriter {
    data: Vec<u8>,
    keys: Option<(i64, i64)>,
}

impl BlockWriter {
    /// Adds an account. If it doesn't fit in the current block, returns that block and starts a new
    /// one.
    pub fn push(&mut self, account: NewAccount<'_>) -> Option<Block> {
        let NewAccount { k, local, breaches, .. } = account;
        let size = self.data.len() + local.len() + breaches.len() + 20;
        let full = size > SIZE && self.keys.is_some_and(|(_, last)| prefix(last) != prefix(k));
        let block = if full { self.finish() } else { None };
        self.keys = Some((self.keys.map_or(k, |(first, _)| first), k));
        push_account(&mut self.data, account);
        block
    }

    /// Returns the last block, or `None` if it's empty.
    pub fn finish(&mut self) -> Option<Block> {
        let (first, _) = self.keys.take()?;
        Some(Block { first, data: std::mem::replace(&mut self.data, Vec::with_capacity(SIZE)) })
    }
}

/// Encodes an account.
pub fn push_account(data: &mut Vec<u8>, account: NewAccount<'_>) {
    let NewAccount { k, domain_id, local, breaches } = account;
    data.extend_from_slice(&k.to_le_bytes());
    push_number(data, u64::from(domain_id.cast_unsigned()));
    push_number(data, local.len() as u64);
    data.extend_from_slice(local.as_bytes());
    push_number(data, (breaches.len() / 2) as u64);
    data.extend_from_slice(breaches);
}

/// Decodes a block's accounts.
pub struct Accounts<'a>(pub &'a [u8]);

impl<'a> Accounts<'a> {
    /// Skips accounts with keys below `low` without decoding them.
    pub fn starting_at(mut self, low: i64) -> Self {
        let mut rest = self.0;
        while let Some(parts) = Parts::take(&mut rest)
            && parts.k < low
        {
            self.0 = rest;
        }
        self
    }

    fn account(&mut self) -> Option<NewAccount<'a>> {
        let Parts { k, domain_id, local, breaches } = Parts::take(&mut self.0)?;
        let domain_id = u32::try_from(domain_id).ok()?.cast_signed();
        let local = std::str::from_utf8(local).ok()?;
        Some(NewAccount { k, domain_id, local, breaches })
    }
}

/// Raw fields of an account, not yet validated.
struct Parts<'a> {
    k: i64,
    domain_id: u64,
    local: &'a [u8],
    breaches: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Splits off the first account. Returns `None` if the data is truncated.
    fn take(data: &mut &'a [u8]) -> Option<Self> {
        let (k, rest) = data.split_first_chunk::<8>()?;
        *data = rest;
        let domain_id = take_number(data)?;
        let local = take_bytes(data, 1)?;
        let breaches = take_bytes(data, 2)?;
        Some(Self { k: i64::from_le_bytes(*k), domain_id, local, breaches })
    }
}

/// Splits off a length-prefixed byte string whose length is in units of `each` bytes. Returns
/// `None` if the data is truncated.
fn take_bytes<'a>(data: &mut &'a [u8], each: usize) -> Option<&'a [u8]> {
    let number = usize::try_from(take_number(data)?).ok()?;
    let (bytes, rest) = data.split_at_checked(number.checked_mul(each)?)?;
    *data = rest;
    Some(bytes)
}

impl<'a> Iterator for Accounts<'a> {
    type Item = Result<NewAccount<'a>, DatabaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let account = self.account().ok_or_else(|| damaged("accounts"));
        if account.is_err() {
            self.0 = &[];
        }
        Some(account)
    }
}

/// Error for blocks that can't be decoded.
pub fn damaged(what: &str) -> DatabaseError {
    DatabaseError::broken(format!("a block of {what} is damaged"))
}

/// Encodes a varint with seven bits per byte.
pub fn push_number(data: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        data.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    data.push(number as u8);
}

/// Splits off a varint. Returns `None` if it's truncated or too large.
pub fn take_number(data: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = data.split_first()?;
        *data = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::accounts::runs::RunAccount;

    proptest! {
        #[test]
        fn encoded_accounts_decode_to_equal_accounts(
            mut accounts in proptest::collection::vec((0..500_i64, 0..i32::MAX, "[a-zé]{0,90}", 0..200_usize), 0..200),
            from in 0..500_i64,
        ) {
            accounts.sort();
            // Some accounts share a whole key, others only the upper bits.
            let key = |k: i64| ((k / 3) << (u64::BITS - KEY_BITS)) | (k % 3 / 2);
            let from = key(from);
            let accounts: Vec<RunAccount> = accounts
                .into_iter()
                .map(|(k, domain_id, local, ids)| RunAccount { k: key(k), domain_id, local, breaches: vec![7; 2 * ids] })
                .collect();
            let (mut writer, mut blocks) = (BlockWriter::default(), Vec::new());
            for account in &accounts {
                blocks.extend(writer.push(account.as_new()));
            }
            blocks.extend(writer.finish());
            let mut read = Vec::new();
            for (at, block) in blocks.iter().enumerate() {
                let all = || Accounts(&block.data);
                let of_block: Vec<_> = all().collect::<Result<_, _>>().unwrap();
                for low in [block.first - 1, block.first, block.first + 1, from, i64::MAX] {
                    let rest: Vec<_> = all().starting_at(low).collect::<Result<_, _>>().unwrap();
                    prop_assert!(rest.iter().eq(of_block.iter().filter(|account| account.k >= low)));
                }
                prop_assert_eq!(of_block.first().unwrap().k, block.first);
                if let Some(next) = blocks.get(at + 1) {
                    let last = of_block.last().unwrap().k;
                    prop_assert!(last < next.first && number(1, last) < number(1, next.first));
                }
                read.extend(of_block.into_iter().map(RunAccount::from));
            }
            prop_assert_eq!(read, accounts);
        }

        #[test]
        fn decoding_damaged_blocks_terminates(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let read = Accounts(&bytes).count();
            prop_assert!(read <= bytes.len());
            prop_assert!(Accounts(&bytes).starting_at(0).count() <= bytes.len());
        }
    }
}
