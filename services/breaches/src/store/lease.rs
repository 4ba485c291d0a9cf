//! A lease: the exclusive right of one replica to some work, which expires on its own.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::meta;
use super::versions;

/// A lease taken by this process. Its row contains the second at which it expires. Because a lease
/// can be taken only after that second, the value also identifies the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    key: &'static str,
    until: i64,
}

impl Lease {
    /// Takes a lease. Returns `None` if another process holds it. If two processes race, exactly
    /// one gets it.
    ///
    /// # Errors
    /// Returns errors of the database.
    pub fn take(
        db: &mut Db,
        key: &'static str,
        now: i64,
        seconds: i64,
    ) -> Result<Option<Self>, DatabaseError> {
        let until = now + seconds;
        if versions::set_once(db, key, until)? {
            return Ok(Some(Self { key, until }));
        }
        let free = meta::table.filter(meta::key.eq(key)).filter(meta::value.le(now));
        let taken = diesel::update(free).set(meta::value.eq(until)).execute(db)? == 1;
        Ok(taken.then_some(Self { key, until }))
    }

    /// Extends the lease. Returns `None` if another process took it. No other process can take it
    /// before the transaction ends.
    ///
    /// # Errors
    /// Returns errors of the database.
    pub fn renew(self, db: &mut Db, now: i64, seconds: i64) -> Result<Option<Self>, DatabaseError> {
        let until = self.until.max(now + seconds);
        Ok(self.replace(db, until)?.then_some(Self { until, ..self }))
    }

    /// Releases the lease. Returns false if another process took it; that lease is kept.
    ///
    /// # Errors
    /// Returns errors of the database.
    pub fn release(self, db: &mut Db) -> Result<bool, DatabaseError> {
        self.replace(db, 0)
    }

    fn replace(self, db: &mut Db, until: i64) -> Result<bool, DatabaseError> {
        let own = meta::table.filter(meta::key.eq(self.key)).filter(meta::value.eq(self.until));
        Ok(diesel::update(own).set(meta::value.eq(until)).execute(db)? == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
