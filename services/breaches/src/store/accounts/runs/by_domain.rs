//! Reads a domain's accounts from runs.

use std::collections::VecDeque;

use database::DatabaseError;
use diesel::dsl::max;
use diesel::prelude::*;

use super::block::{Accounts, damaged, number};
use super::cursor::{Cursor, Merged};
use super::domain_block::{self, Place};
use super::list;
use super::run_account::RunAccount;
use super::stored;
use crate::store::schema::domain_block as domain_blocks;

/// How many index blocks to read per query.
const BLOCKS: i64 = 8;

/// Reads a domain's accounts from all runs, in key order. Call this in a transaction.
pub fn at_domain(
    conn: &mut SqliteConnection,
    domain_id: i32,
) -> Result<Merged<DomainCursor>, DatabaseError> {
    let runs = list::all(conn)?;
    Ok(Merged::new(runs.into_iter().map(|run| DomainCursor::new(run.id, domain_id)).collect()))
}

/// Reads a domain's accounts from one run.
pub struct DomainCursor {
    run: i64,
    domain_id: i32,
    /// First index entry to read next, or `None` at the end.
    next: Option<i64>,
    places: VecDeque<Place>,
    ready: VecDeque<RunAccount>,
    /// Highest key read so far.
    seen: Option<i64>,
}

impl DomainCursor {
    fn new(run: i64, domain_id: i32) -> Self {
        let next = Some(Place::first_of(domain_id).stored());
        Self { run, domain_id, next, places: VecDeque::new(), ready: VecDeque::new(), seen: None }
    }

    fn fill_places(&mut self, conn: &mut SqliteConnection) -> Result<(), DatabaseError> {
        let first = Place::first_of(self.domain_id).stored();
        let Some(mut from) = self.next else { return Ok(()) };
        let own = domain_blocks::table.filter(domain_blocks::run.eq(self.run));
        if from == first {
            // The domain's first entries may be in a block that starts with another domain.
            let before =
                own.filter(domain_blocks::first.le(from)).select(max(domain_blocks::first));
            from = before.first::<Option<i64>>(conn)?.unwrap_or(from);
        }
        let last_of_domain = first | i64::from(u32::MAX);
        let rows: Vec<(i64, Vec<u8>)> = own
            .filter(domain_blocks::first.between(from, last_of_domain))
            .order(domain_blocks::first)
            .limit(BLOCKS)
            .select((domain_blocks::first, domain_blocks::data))
            .load(conn)?;
        self.next = rows
            .last()
            .filter(|_| rows.len() as i64 == BLOCKS)
            .and_then(|(first, _)| first.checked_add(1));
        for (first, data) in &rows {
            let places = domain_block::places(*first, data).ok_or_else(|| damaged("domains"))?;
            let (domain_id, seen) = (self.domain_id, self.seen);
            let is_next = |place: &Place| {
                place.domain_id() == domain_id && seen.is_none_or(|seen| place.keys().1 > seen)
            };
            self.places.extend(places.into_iter().filter(is_next));
        }
        Ok(())
    }
}

impl Cursor for DomainCursor {
    fn peek(&mut self, conn: &mut SqliteConnection) -> Result<Option<i64>, DatabaseError> {
        while self.ready.is_empty() {
            if self.places.is_empty() {
                if self.next.is_none() {
                    return Ok(None);
                }
                self.fill_places(conn)?;
                continue;
            }
            self.fill_accounts(conn)?;
        }
        Ok(self.ready.front().map(|account| account.k))
    }

    fn pop(&mut self) -> Option<RunAccount> {
        self.ready.pop_front()
    }
}

impl DomainCursor {
    /// Reads the accounts of the next index entry, along with any accounts of later entries that
    /// are in the same blocks.
    fn fill_accounts(&mut self, conn: &mut SqliteConnection) -> Result<(), DatabaseError> {
        let Some((low, high)) = self.places.front().map(|place| place.keys()) else {
            return Ok(());
        };
        let from = stored::start(conn, self.run, low)?;
        let mut covered = high;
        for block in stored::blocks(conn, from, number(self.run, high))? {
            for account in Accounts(&block.data) {
                let account = account?;
                covered = covered.max(account.k);
                let is_new = self.seen.is_none_or(|seen| account.k > seen);
                if account.domain_id == self.domain_id && is_new {
                    self.ready.push_back(account.into());
                }
            }
        }
        self.seen = Some(covered);
        // Skip the entries that were covered. Some may be stale because their accounts have moved
        // to the table.
        while self.places.front().is_some_and(|place| place.keys().1 <= covered) {
            self.places.pop_front();
        }
        Ok(())
    }
}
