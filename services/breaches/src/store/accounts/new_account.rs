//! An account that a load adds.

/// An account that a load adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAccount<'a> {
    /// Key of the account.
    pub k: i64,
    pub domain_id: i32,
    /// Local part as stored.
    pub local: &'a str,
    /// Packed ids of the breaches to which it is linked.
    pub breaches: &'a [u8],
}
