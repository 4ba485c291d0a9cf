//! Leases. A lease gives one replica the exclusive right to do some work until it expires.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::meta;
use super::versions;

/// A lease held by this process. The row stores only the expiry time. Since a lease can be taken
/// only after it has expired, this value also identifies the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    key: &'static str,
    /// When the lease expires, not counting renewals that may have been committed without our
    /// knowledge.
    until: i64,
    /// Latest expiry time that such a renewal might have set.
    latest: i64,
}

impl Lease {
    /// Takes a lease. Returns `None` if it's already taken. If two processes race, only one gets
    /// it.
    ///
    /// # Errors
    /// Returns an error if a query fails.
    pub fn take(
        db: &mut Db,
        key: &'static str,
        now: i64,
        seconds: i64,
    ) -> Result<Option<Self>, DatabaseError> {
        let until = now + seconds;
        if versions::set_once(db, key, until)? {
            return Ok(Some(Self { key, until, latest: until }));
        }
        let free = meta::table.filter(meta::key.eq(key)).filter(meta::value.le(now));
        let taken = diesel::update(free).set(meta::value.eq(until)).execute(db)? == 1;
        Ok(taken.then_some(Self { key, until, latest: until }))
    }

    /// Prepares for a renewal. Call this before the transaction that renews the lease. If the
    /// connection breaks during the commit, the row could have either the old or the new value, and
    /// both must be recognized as ours.
    ///
    /// Does nothing if the lease has expired, since another process could take it in the same
    /// second.
    pub fn expect_renewal(&mut self, now: i64, seconds: i64) {
        if now < self.until {
            self.latest = self.latest.max(now + seconds);
        }
    }

    /// Extends the lease. Returns `None` if another process has taken it. No other process can take
    /// it while the transaction is open.
    ///
    /// # Errors
    /// Returns an error if the query fails.
    pub fn renew(self, db: &mut Db, now: i64, seconds: i64) -> Result<Option<Self>, DatabaseError> {
        let until = self.latest.max(now + seconds);
        Ok(self.replace(db, until)?.then_some(Self { until, latest: until, ..self }))
    }

    /// Releases the lease. If another process has taken it, returns `false` and leaves it alone.
    ///
    /// # Errors
    /// Returns an error if the query fails.
    pub fn release(self, db: &mut Db) -> Result<bool, DatabaseError> {
        self.replace(db, 0)
    }

    fn replace(self, db: &mut Db, until: i64) -> Result<bool, DatabaseError> {
        // Another owner's lease can't match, because it expires later than any of our renewals.
        let own = meta::table.filter(meta::key.eq(self.key));
        let own = own.filter(meta::value.between(self.until, self.latest));
        Ok(diesel::update(own).set(meta::value.eq(until)).execute(db)? == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewal_whose_commit_was_not_acknowledged_is_recognised() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        pools
            .write_blocking(|db| -> Result<(), DatabaseError> {
                let mut lease = Lease::take(db, "work", 0, 300)?.unwrap();
                // The first renewal is committed and the second rolled back, but the owner doesn't
                // find out about either.
                lease.expect_renewal(100, 300);
                lease.renew(db, 100, 300)?;
                lease.expect_renewal(150, 300);
                let lease = lease.renew(db, 200, 300)?.unwrap();
                assert_eq!(Lease::take(db, "work", 499, 300)?, None);
                // An expired lease isn't mistaken for the next owner's.
                let mut expired = lease;
                expired.expect_renewal(500, 300);
                assert!(Lease::take(db, "work", 500, 300)?.is_some());
                assert_eq!(expired.renew(db, 501, 300)?, None);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn expired_lease_is_neither_renewed_nor_released_once_another_process_took_it() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        pools
            .write_blocking(|db| -> Result<(), DatabaseError> {
                let first = Lease::take(db, "work", 0, 300)?.unwrap();
                assert_eq!(Lease::take(db, "work", 299, 300)?, None);
                let second = Lease::take(db, "work", 300, 300)?.unwrap();
                assert_eq!(first.renew(db, 301, 300)?, None);
                assert!(!first.release(db)?);
                assert_eq!(Lease::take(db, "work", 301, 300)?, None);
                let second = second.renew(db, 500, 300)?.unwrap();
                assert_eq!(Lease::take(db, "work", 700, 300)?, None);
                assert!(second.release(db)?);
                assert!(Lease::take(db, "work", 501, 300)?.is_some());
                Ok(())
            })
            .unwrap();
    }
}
