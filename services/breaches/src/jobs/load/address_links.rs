//! The links that a load adds to an address.

/// An address and the breaches to link it to.
#[derive(Clone, Copy, Debug)]
pub struct AddressLinks<'a> {
    /// Account key.
    pub k: i64,
    /// The address as it's sorted; see `sorted_text`.
    pub address: &'a str,
    /// Packed breach ids.
    pub breaches: &'a [u8],
}
