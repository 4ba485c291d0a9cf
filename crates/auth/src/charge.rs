//! The cost of a request and the bucket that pays it.

use crate::{Quota, QuotaId, Rate};

/// The cost of one request: `cost` tokens of a bucket that refills at `rate`.
///
/// The [`Gate`](crate::Gate) decides who pays, a key or a client address. `purpose` and `name` select one
/// of several buckets of the payer.
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
    /// The refill and the size of the bucket.
    pub rate: Rate,
    /// The number of tokens that the request takes; 0 for free.
    pub cost: u32,
    /// The purpose of the bucket; empty if the payer has only one.
    pub purpose: &'static str,
    /// A name known only at run time, such as a domain.
    pub name: Option<String>,
}

impl Charge {
    /// A free request.
    pub const FREE: Self = Self { rate: Rate::UNLIMITED, cost: 0, purpose: "", name: None };

    /// Sets the cost; 0 for free.
    #[must_use]
    pub fn cost(self, tokens: u32) -> Self {
        Self { cost: tokens, ..self }
    }

    /// Uses the bucket of a purpose, such as reading or writing.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }

    /// Uses the bucket of a name, such as a searched domain.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the bucket of a payer.
    pub(crate) fn bucket(&self, payer: QuotaId) -> QuotaId {
        let bucket = payer.purpose(self.purpose);
        match &self.name {
            Some(name) => bucket.part(name.clone()),
            None => bucket,
        }
    }
}

impl From<Rate> for Charge {
    /// A cost of one token.
    fn from(rate: Rate) -> Self {
        Self { rate, cost: 1, purpose: "", name: None }
    }
}

impl From<Quota> for Charge {
    /// A cost of one token.
    fn from(quota: Quota) -> Self {
        Rate::from(quota).into()
    }
}
