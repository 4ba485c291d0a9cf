//! What a request costs, and in which bucket.

use crate::{Quota, QuotaId, Rate};

/// What one request takes: `cost` tokens of a bucket that refills at `rate`.
///
/// Who pays, a key or a client address, is decided by the [`Gate`](crate::Gate). `purpose` and
/// `name` keep several buckets of one payer apart.
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
    /// How fast the bucket refills, and how much it holds.
    pub rate: Rate,
    /// Tokens that the request takes; 0 for free.
    pub cost: u32,
    /// Names the bucket among those of its payer; empty for the only one.
    pub purpose: &'static str,
    /// Names the bucket further by something known only at run time, such as a domain.
    pub name: Option<String>,
}

impl Charge {
    /// Nothing is taken.
    pub const FREE: Self = Self { rate: Rate::UNLIMITED, cost: 0, purpose: "", name: None };

    /// The same with another cost; 0 for free.
    #[must_use]
    pub fn cost(self, tokens: u32) -> Self {
        Self { cost: tokens, ..self }
    }

    /// The same in a bucket of its own for a purpose, such as reading or writing.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }

    /// The same in a bucket of its own for a name, such as a domain that is searched.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use auth::{Charge, Rate};
    ///
    /// let charge = Charge::from(Rate::per(10, Duration::from_secs(600)))
    ///     .purpose("domain-search")
    ///     .named("example.org");
    /// assert_eq!(charge.name.as_deref(), Some("example.org"));
    /// ```
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The bucket of a payer that this is taken from.
    pub(crate) fn bucket(&self, payer: QuotaId) -> QuotaId {
        let bucket = payer.purpose(self.purpose);
        match &self.name {
            Some(name) => bucket.part(name.clone()),
            None => bucket,
        }
    }
}

impl From<Rate> for Charge {
    /// One token.
    fn from(rate: Rate) -> Self {
        Self { rate, cost: 1, purpose: "", name: None }
    }
}

impl From<Quota> for Charge {
    /// One token.
    fn from(quota: Quota) -> Self {
        Rate::from(quota).into()
    }
}
