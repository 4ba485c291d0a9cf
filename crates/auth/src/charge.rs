//! The cost of a request, and the bucket that pays for it.

use crate::{Quota, QuotaId, Rate};

/// A charge of `cost` tokens to a bucket that refills at `rate`.
///
/// The [`Gate`](crate::Gate) decides who pays, i.e. either a key or a client address. A payer can
/// have several buckets, and `purpose` and `name` select one of them.
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
    /// The size of the bucket, and how fast it refills.
    pub rate: Rate,
    /// Number of tokens per request. 0 means that the request is free.
    pub cost: u32,
    /// Selects a bucket by purpose. Empty if the payer has only one bucket.
    pub purpose: &'static str,
    /// Selects a bucket by a name that is only known at run time, such as a domain.
    pub name: Option<String>,
}

impl Charge {
    /// A charge that makes a request free.
    pub const FREE: Self = Self { rate: Rate::UNLIMITED, cost: 0, purpose: "", name: None };

    /// Sets the number of tokens to charge, where 0 means that the request is free.
    #[must_use]
    pub fn cost(self, tokens: u32) -> Self {
        Self { cost: tokens, ..self }
    }

    /// Uses a separate bucket for `purpose`, such as reading or writing.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }

    /// Uses a separate bucket for `name`, such as the domain being searched.
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
    /// Creates a charge of one token at this rate.
    fn from(rate: Rate) -> Self {
        Self { rate, cost: 1, purpose: "", name: None }
    }
}

impl From<Quota> for Charge {
    /// Creates a charge of one token of this quota.
    fn from(quota: Quota) -> Self {
        Rate::from(quota).into()
    }
}
