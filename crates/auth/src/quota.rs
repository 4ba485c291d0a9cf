//! Token buckets and their owners.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// A token bucket that holds `burst` tokens and regains `per_minute` tokens per minute. Unlimited
/// if `per_minute` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    /// Tokens regained per minute. 0 means unlimited.
    pub per_minute: u32,
    /// Number of tokens in a full bucket, where 0 counts as 1.
    pub burst: u32,
}

impl Quota {
    /// Creates a quota that allows as many requests at once as it regains per minute.
    pub fn per_minute(requests: u32) -> Self {
        Self { per_minute: requests, burst: requests }
    }

    /// Returns the share of this quota that each replica gets. The refill rate is divided between
    /// them, but the burst isn't, so that any single replica can accept a full burst.
    ///
    /// ```
    /// let rate = auth::Quota::per_minute(10).shared_by(2);
    /// assert_eq!(rate, auth::Rate { every: std::time::Duration::from_secs(12), burst: 10 });
    /// ```
    pub fn shared_by(self, replicas: u32) -> Rate {
        Rate::from(self).shared_by(replicas)
    }
}

/// A token bucket defined by the time it takes to regain a token, for limits that aren't per
/// minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Time to regain one token, where zero means unlimited.
    pub every: Duration,
    /// Number of tokens in a full bucket, where 0 counts as 1.
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

    /// Returns the share that each replica gets. See [`Quota::shared_by`].
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

/// Identifies the owner of a bucket.
///
/// Limits with the same rate share buckets unless they differ in [`purpose`](Self::purpose).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuotaId {
    /// A key, by row ID.
    Key(i64),
    /// An owner of keys, by an ID that the service defines. Issuing a new key doesn't refill the
    /// bucket.
    Owner(i64),
    /// A client address. IPv6 addresses are grouped by /64 network, since each subscriber usually
    /// gets an entire network.
    Address(IpAddr),
    /// A separate bucket of the given owner, for one purpose.
    For(&'static str, Box<QuotaId>),
    /// A separate bucket of the given owner, for one name such as a domain.
    Part(Box<QuotaId>, String),
}

impl QuotaId {
    /// Returns the ID of a separate bucket for `purpose`, or `self` if `purpose` is empty.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        if purpose.is_empty() { self } else { Self::For(purpose, Box::new(self)) }
    }

    /// Returns the ID of a separate bucket for `name`.
    #[must_use]
    pub fn part(self, name: impl Into<String>) -> Self {
        Self::Part(Box::new(self), name.into())
    }

    /// Replaces an address with the first one in its network.
    pub(crate) fn counted(self) -> Self {
        match self {
            Self::Address(address) => Self::Address(subscriber(address)),
            Self::For(purpose, id) => Self::For(purpose, Box::new(id.counted())),
            Self::Part(id, name) => Self::Part(Box::new(id.counted()), name),
            other => other,
        }
    }
}

/// Returns the first address in the subscriber's network.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

/// The state of a bucket after charging a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Number of tokens in a full bucket.
    pub limit: u32,
    /// Number of tokens left.
    pub remaining: u32,
    /// Seconds until the bucket is full again.
    pub reset: u64,
}

/// A request was rejected because its bucket doesn't have enough tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests, try again in {retry_after} s")]
pub struct TooMany {
    /// Seconds until the request would succeed if nothing else is charged, at least 1.
    pub retry_after: u64,
    /// Number of tokens in a full bucket.
    pub limit: u32,
    /// Seconds until the bucket is full again.
    pub reset: u64,
}

impl TooMany {
    /// Returns the state of the bucket, for headers that are part of every response.
    pub fn remaining(self) -> Remaining {
        Remaining { limit: self.limit, remaining: 0, reset: self.reset }
    }
}
