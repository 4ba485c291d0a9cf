//! Reads all accounts in key order, a few thousand at a time.

use database::{DatabaseError, Db};

use super::read::after;
use super::routed::ShardWalk;
use super::rows::AccountRow;
use crate::store::layout::Layout;

/// How many accounts to read per query.
const PAGE: i64 = 5_000;

/// Walks all accounts in key order.
#[derive(Debug)]
pub struct Pages {
    walk: Option<ShardWalk>,
    after: (i64, i16),
}

impl Pages {
    /// Starts after the account at `place`, i.e. its key and sequence number.
    pub fn after(db: &mut Db, place: (i64, i16)) -> Result<Self, DatabaseError> {
        let from = if place.1 < 0 { place.0 } else { place.0.saturating_add(1) };
        let is_distributed = Layout::of(db)?.is_distributed();
        Ok(Self { walk: is_distributed.then(|| ShardWalk::from(from)), after: place })
    }

    /// Reads the next few thousand accounts, or none at the end. Accounts with the same key are
    /// never split across pages.
    pub fn next(&mut self, db: &mut Db) -> Result<Vec<AccountRow>, DatabaseError> {
        let rows = match &mut self.walk {
            Some(walk) => {
                // If this fails, the next call reads the same page.
                let mut next = walk.clone();
                let rows = next.read(db, PAGE)?;
                *walk = next;
                rows
            }
            None => page(db, self.after)?,
        };
        if let Some(last) = rows.last() {
            self.after = (last.k, i16::MAX);
        }
        Ok(rows)
    }
}

/// Reads up to `accounts` accounts, starting at key `k`. Since keys are hashes, this is a random
/// sample.
pub fn sample(db: &mut Db, k: i64, accounts: i64) -> Result<Vec<AccountRow>, DatabaseError> {
    if Layout::of(db)?.is_distributed() {
        let (mut walk, mut rows) = (ShardWalk::from(k), Vec::new());
        while (rows.len() as i64) < accounts {
            let more = walk.read(db, accounts - rows.len() as i64)?;
            if more.is_empty() {
                break;
            }
            rows.extend(more);
        }
        return Ok(rows);
    }
    after(db, (k, -1), accounts)
}

/// Reads the next few thousand accounts after `place`.
fn page(db: &mut Db, place: (i64, i16)) -> Result<Vec<AccountRow>, DatabaseError> {
    let mut rows = after(db, place, PAGE)?;
    let full = rows.len() as i64 == PAGE;
    if let (true, Some(last)) = (full, rows.last().map(|row| row.k))
        && rows.first().is_some_and(|row| row.k != last)
    {
        rows.retain(|row| row.k != last);
    }
    Ok(rows)
}
