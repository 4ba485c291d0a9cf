//! The cost of a request, and the bucket that pays for it.

use crate::{Quota, QuotaId, Rate};

/// The cost of a request: `cost` tokens from a bucket that refills at `rate`.
///
/// The [`Gate`](crate::Gate) decides who pays: a key or a client address. `purpose` and `name`
/// select one of several buckets of the payer.
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
    /// The refill rate and the size of the bucket.
    pub rate: Rate,
    /// The number of tokens that the request costs. 0 if it is free.
    pub cost: u32,
    /// The purpose of the bucket. Empty if the payer has only one bucket.
    pub purpose: &'static str,
    /// A name that is known only at run time, such as a domain.
    pub name: Option<String>,
}

impl Charge {
    /// A free request.
    pub const FREE: Self = Self { rate: Rate::UNLIMITED, cost: 0, purpose: "", name: None };

    /// Sets the cost. 0 means free.
    #[must_use]
    pub fn cost(self, tokens: u32) -> Self {
        Self { cost: tokens, ..self }
    }

    /// Uses a separate bucket for a purpose, such as reading or writing.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }

    /// Uses a separate bucket for a name, such as the domain that is searched.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the id of the bucket of a payer.
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
