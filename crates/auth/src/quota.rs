//! How often something may happen, and to whom it is charged.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// A token bucket: `burst` tokens, refilled at `per_minute`. A quota of 0 per minute is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    /// Tokens regained each minute; 0 for no limit at all.
    pub per_minute: u32,
    /// Tokens of a full bucket; at least 1 is taken for 0.
    pub burst: u32,
}

impl Quota {
    /// A quota whose burst is what a minute regains.
    ///
    /// ```
    /// assert_eq!(auth::Quota::per_minute(50), auth::Quota { per_minute: 50, burst: 50 });
    /// ```
    pub fn per_minute(requests: u32) -> Self {
        Self { per_minute: requests, burst: requests }
    }

    /// The share of one of several replicas: the refill is divided, the burst stays, so that it
    /// passes on any of them.
    ///
    /// ```
    /// let rate = auth::Quota::per_minute(10).shared_by(2);
    /// assert_eq!(rate, auth::Rate { every: std::time::Duration::from_secs(12), burst: 10 });
    /// ```
    pub fn shared_by(self, replicas: u32) -> Rate {
        Rate::from(self).shared_by(replicas)
    }
}

/// A token bucket by the time that one token takes, for limits that are not per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Time in which one token is regained; zero for no limit at all.
    pub every: Duration,
    /// Tokens of a full bucket; at least 1 is taken for 0.
    pub burst: u32,
}

impl Rate {
    /// No limit at all.
    pub const UNLIMITED: Self = Self { every: Duration::ZERO, burst: 0 };

    /// So many in a period, all of them at once if need be; 0 for no limit at all.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let a_day = auth::Rate::per(20, Duration::from_secs(86_400));
    /// assert_eq!(a_day, auth::Rate { every: Duration::from_secs(4_320), burst: 20 });
    /// ```
    pub fn per(count: u32, period: Duration) -> Self {
        Self { every: period.checked_div(count).unwrap_or(Duration::ZERO), burst: count }
    }

    /// The share of one of several replicas, see [`Quota::shared_by`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let rate = auth::Rate::per(10, Duration::from_secs(600)).shared_by(2);
    /// assert_eq!(rate, auth::Rate { every: Duration::from_secs(120), burst: 10 });
    /// ```
    #[must_use]
    pub fn shared_by(self, replicas: u32) -> Self {
        Self { every: self.every.saturating_mul(replicas.max(1)), ..self }
    }
}

impl From<Quota> for Rate {
    fn from(quota: Quota) -> Self {
        let every = Duration::from_secs(60).checked_div(quota.per_minute);
        Self { every: every.unwrap_or(Duration::ZERO), burst: quota.burst }
    }
}

/// Whose bucket is charged.
///
/// Two limits that happen to be equal share their buckets unless [`purpose`](Self::purpose) keeps
/// them apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuotaId {
    /// A key, by its row.
    Key(i64),
    /// An owner of keys, by the service's own number: a new key does not come with a full bucket.
    Owner(i64),
    /// A client address; IPv6 counts by its /64, which one subscriber owns whole.
    Address(IpAddr),
    /// One of these for a purpose of its own.
    For(&'static str, Box<QuotaId>),
    /// One of these for a name of its own, such as a domain.
    Part(Box<QuotaId>, String),
}

impl QuotaId {
    /// The same holder with a bucket of its own for a purpose; an empty purpose changes nothing.
    ///
    /// ```
    /// use auth::QuotaId;
    ///
    /// assert_ne!(QuotaId::Key(7).purpose("write"), QuotaId::Key(7).purpose("read"));
    /// ```
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        if purpose.is_empty() { self } else { Self::For(purpose, Box::new(self)) }
    }

    /// The same holder with a bucket of its own for a name.
    ///
    /// ```
    /// use auth::QuotaId;
    ///
    /// let domain = |name: &str| QuotaId::Key(7).part(name);
    /// assert_ne!(domain("example.org"), domain("example.net"));
    /// ```
    #[must_use]
    pub fn part(self, name: impl Into<String>) -> Self {
        Self::Part(Box::new(self), name.into())
    }

    /// The holder as it is counted.
    pub(crate) fn counted(self) -> Self {
        match self {
            Self::Address(address) => Self::Address(subscriber(address)),
            Self::For(purpose, id) => Self::For(purpose, Box::new(id.counted())),
            Self::Part(id, name) => Self::Part(Box::new(id.counted()), name),
            other => other,
        }
    }
}

/// The address that stands for all addresses of one subscriber.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

/// What is left in a bucket after a request was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Tokens of the full bucket.
    pub limit: u32,
    /// Tokens that are left.
    pub remaining: u32,
    /// Whole seconds until the bucket is full again.
    pub reset: u64,
}

/// A refusal: the bucket does not hold enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests, try again in {retry_after} s")]
pub struct TooMany {
    /// Whole seconds, at least 1, after which the same request passes if nothing else is charged.
    pub retry_after: u64,
    /// Tokens of the full bucket.
    pub limit: u32,
    /// Whole seconds until the bucket is full again.
    pub reset: u64,
}

impl TooMany {
    /// The state of the bucket, for headers that every answer carries.
    pub fn remaining(self) -> Remaining {
        Remaining { limit: self.limit, remaining: 0, reset: self.reset }
    }
}
