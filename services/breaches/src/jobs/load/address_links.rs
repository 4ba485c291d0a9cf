//! The links of an address that a load adds.

/// An address and the breaches to link it to.
#[derive(Clone, Copy, Debug)]
pub struct AddressLinks<'a> {
    /// Key of the account.
    pub k: i64,
    /// The address in its sorted form.
    pub address: &'a str,
    /// Packed ids.
    pub breaches: &'a [u8],
}
