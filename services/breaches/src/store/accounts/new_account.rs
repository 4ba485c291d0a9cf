//! Accounts and links added by a load.

/// An account added by a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAccount<'a> {
    /// Account key.
    pub k: i64,
    pub domain_id: i32,
    /// Local part as stored.
    pub local: &'a str,
    /// Packed ids of its breaches.
    pub breaches: &'a [u8],
}

/// A link from an account to a website or paste, added by a load.
#[derive(Clone, Copy, Debug)]
pub struct NewLink<'a> {
    pub account: NewAccount<'a>,
    /// Website or paste id. 0 if only the account is staged.
    pub other_id: i64,
}
