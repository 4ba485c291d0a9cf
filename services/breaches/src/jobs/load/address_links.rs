//! The links that a load adds to an address.

/// An address and the breaches to link it to.
#[derive(Clone, Copy, Debug)]
pub struct AddressLinks<'a> {
    /// Key of the account.
    pub k: i64,
    /// The address in the form in which it is sorted.
    pub address: &'a str,
    /// Ids of the breaches, packed.
    pub breaches: &'a [u8],
}
