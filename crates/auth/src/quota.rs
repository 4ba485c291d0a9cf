//! Token buckets, and the holders they belong to.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// A token bucket with `burst` tokens that is refilled at `per_minute`. If `per_minute` is 0, it is
/// unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    /// The number of tokens regained per minute. 0 means unlimited.
    pub per_minute: u32,
    /// The number of tokens in a full bucket. 0 counts as 1.
    pub burst: u32,
}

impl Quota {
    /// Creates a quota whose burst equals the refill of one minute.
    pub fn per_minute(requests: u32) -> Self {
        Self { per_minute: requests, burst: requests }
    }

    /// Returns the share of each of several replicas. The refill is divided, but the burst stays
    /// the same, so that a burst is accepted by any one of them.
    ///
    /// ```
    /// let rate = auth::Quota::per_minute(10).shared_by(2);
    /// assert_eq!(rate, auth::Rate { every: std::time::Duration::from_secs(12), burst: 10 });
    /// ```
    pub fn shared_by(self, replicas: u32) -> Rate {
        Rate::from(self).shared_by(replicas)
    }
}

/// A token bucket with the refill time of a single token, for limits that are not per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// The time it takes to regain one token. Zero means unlimited.
    pub every: Duration,
    /// The number of tokens in a full bucket. 0 counts as 1.
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const UNLIMITED: Self = Self { every: Duration::ZERO, burst: 0 };

    /// Allows `count` requests per period, even all at once. 0 means unlimited.
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

    /// Returns the share of each of several replicas, see [`Quota::shared_by`].
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

/// The holder of a bucket.
///
/// Limits with the same rate share their buckets, unless they have a different
/// [`purpose`](Self::purpose).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuotaId {
    /// A key, by the id of its row.
    Key(i64),
    /// An owner of keys, by an id of the service. A new key does not refill the bucket.
    Owner(i64),
    /// A client address. IPv6 addresses are counted by their /64 network, which belongs to one
    /// subscriber.
    Address(IpAddr),
    /// A holder with a purpose.
    For(&'static str, Box<QuotaId>),
    /// A holder with a name, such as a domain.
    Part(Box<QuotaId>, String),
}

impl QuotaId {
    /// Returns a holder with a separate bucket for a purpose. An empty purpose changes nothing.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        if purpose.is_empty() { self } else { Self::For(purpose, Box::new(self)) }
    }

    /// Returns a holder with a separate bucket for a name.
    #[must_use]
    pub fn part(self, name: impl Into<String>) -> Self {
        Self::Part(Box::new(self), name.into())
    }

    /// Replaces an address with the one that represents its network.
    pub(crate) fn counted(self) -> Self {
        match self {
            Self::Address(address) => Self::Address(subscriber(address)),
            Self::For(purpose, id) => Self::For(purpose, Box::new(id.counted())),
            Self::Part(id, name) => Self::Part(Box::new(id.counted()), name),
            other => other,
        }
    }
}

/// Returns the first address of the subscriber's network.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

/// The state of a bucket after a request was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// The number of tokens in the full bucket.
    pub limit: u32,
    /// The number of tokens left.
    pub remaining: u32,
    /// The number of seconds until the bucket is full again.
    pub reset: u64,
}

/// The rejection of a request: the bucket does not have enough tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests, try again in {retry_after} s")]
pub struct TooMany {
    /// The number of seconds to wait, at least 1, until the request would succeed if nothing else
    /// is charged.
    pub retry_after: u64,
    /// The number of tokens in the full bucket.
    pub limit: u32,
    /// The number of seconds until the bucket is full again.
    pub reset: u64,
}

impl TooMany {
    /// Returns the state of the bucket, for headers of every response.
    pub fn remaining(self) -> Remaining {
        Remaining { limit: self.limit, remaining: 0, reset: self.reset }
    }
}
