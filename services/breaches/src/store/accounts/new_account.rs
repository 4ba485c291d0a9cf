//! An account that a load adds.

/// An account that a load adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAccount<'a> {
    /// Key.
    pub k: i64,
    /// Id of the domain.
    pub domain_id: i32,
    /// Local part as stored.
    pub local: &'a str,
    /// Packed ids of the breaches to link.
    pub breaches: &'a [u8],
}
