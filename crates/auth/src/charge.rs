//! Request costs and the buckets that pay for them.

use crate::{Quota, QuotaId, Rate};

/// Takes `cost` tokens from a bucket that refills at `rate`.
///
/// The [`Gate`](crate::Gate) decides who pays: a key or a client address. A payer can have several
/// buckets; `purpose` and `name` pick one.
///
/// ```
/// use auth::{Charge, Quota};
///
/// let write = Charge::from(Quota::per_minute(30)).purpose("write");
/// assert_eq!((write.cost, write.purpose), (1, "write"));
/// assert_eq!(Charge::FREE.cost, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// How fast the bucket refills, and its size.
    pub rate: Rate,
    /// Tokens charged per request. 0 means free.
    pub cost: u32,
    /// Picks a bucket by purpose. Empty if the payer has only one.
    pub purpose: &'static str,
    /// A name only known at run time, such as a domain.
    pub name: Option<String>,
}

impl Charge {
    /// Makes a request free.
    pub const FREE: Self = Self { rate: Rate::UNLIMITED, cost: 0, purpose: "", name: None };

    /// Sets the number of tokens to charge. 0 means free.
    #[must_use]
    pub fn cost(self, tokens: u32) -> Self {
        Self { cost: tokens, ..self }
    }

    /// Uses a separate bucket for a purpose, such as reading or writing.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }

    /// Uses a separate bucket for a name, such as the domain being searched.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the ID of the payer's bucket for this charge.
    pub(crate) fn bucket(&self, payer: QuotaId) -> QuotaId {
        let bucket = payer.purpose(self.purpose);
        match &self.name {
            Some(name) => bucket.part(name.clone()),
            None => bucket,
        }
    }
}

impl From<Rate> for Charge {
    /// Costs one token at this rate.
    fn from(rate: Rate) -> Self {
        Self { rate, cost: 1, purpose: "", name: None }
    }
}

impl From<Quota> for Charge {
    /// Costs one token of this quota.
    fn from(quota: Quota) -> Self {
        Rate::from(quota).into()
    }
}
