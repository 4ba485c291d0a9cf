//! What a load links.

/// An address, and the breaches that it is to be linked to.
#[derive(Clone, Copy, Debug)]
pub struct AddressLinks<'a> {
    /// Key of the account.
    pub k: i64,
    /// The address as it is sorted.
    pub address: &'a str,
    /// Packed ids.
    pub breaches: &'a [u8],
}
