//! Walks runs in key order.

use std::collections::VecDeque;

use database::DatabaseError;
use diesel::SqliteConnection;

use super::block::Accounts;
use super::run_account::{RunAccount, merge_duplicates};
use super::stored::{self, StoredBlock};

/// Accounts from a run in key order.
pub trait Cursor {
    /// Returns the key of the next account, or `None` at the end.
    fn peek(&mut self, conn: &mut SqliteConnection) -> Result<Option<i64>, DatabaseError>;

    /// Takes the account that `peek` just found.
    fn pop(&mut self) -> Option<RunAccount>;
}

/// Specifies which blocks to read next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// The block that may contain this key.
    Key(i64),
    /// The block after the one with this number.
    After(i64),
    End,
}

/// A run's accounts, starting at some key.
pub struct RunCursor {
    run: i64,
    low: i64,
    next: Next,
    ready: VecDeque<RunAccount>,
    /// Whether to delete blocks once they've been read.
    consumes: bool,
}

impl RunCursor {
    /// Starts at the first key that is at least `low`.
    pub fn from(run: i64, low: i64) -> Self {
        Self { run, low, next: Next::Key(low), ready: VecDeque::new(), consumes: false }
    }

    /// Deletes the run's blocks as they're read, so that their pages can be reused.
    pub fn consuming(run: i64) -> Self {
        Self { consumes: true, ..Self::from(run, i64::MIN) }
    }

    fn fill(&mut self, conn: &mut SqliteConnection) -> Result<(), DatabaseError> {
        let from = match self.next {
            Next::Key(key) => stored::start(conn, self.run, key)?,
            Next::After(id) => id + 1,
            Next::End => return Ok(()),
        };
        let blocks = stored::blocks(conn, from, stored::bounds(self.run).1)?;
        self.next = blocks.last().map_or(Next::End, |block| Next::After(block.id));
        for StoredBlock { data, .. } in &blocks {
            for account in Accounts(data) {
                let account = account?;
                if account.k >= self.low {
                    self.ready.push_back(account.into());
                }
            }
        }
        if let (true, Some(first), Some(last)) = (self.consumes, blocks.first(), blocks.last()) {
            stored::remove_blocks(conn, first.id, last.id)?;
        }
        Ok(())
    }
}

impl Cursor for RunCursor {
    fn peek(&mut self, conn: &mut SqliteConnection) -> Result<Option<i64>, DatabaseError> {
        while self.ready.is_empty() && !matches!(self.next, Next::End) {
            self.fill(conn)?;
        }
        Ok(self.ready.front().map(|account| account.k))
    }

    fn pop(&mut self) -> Option<RunAccount> {
        self.ready.pop_front()
    }
}

/// Accounts from several runs in key order, without duplicates.
pub struct Merged<C> {
    cursors: Vec<C>,
    /// The next account or accounts, all with the same key.
    ready: VecDeque<RunAccount>,
}

impl<C: Cursor> Merged<C> {
    pub fn new(cursors: Vec<C>) -> Self {
        Self { cursors, ready: VecDeque::new() }
    }

    /// Returns the key of the next account, or `None` at the end.
    pub fn peek(&mut self, conn: &mut SqliteConnection) -> Result<Option<i64>, DatabaseError> {
        if let Some(account) = self.ready.front() {
            return Ok(Some(account.k));
        }
        let mut lowest = None;
        for cursor in &mut self.cursors {
            let key = cursor.peek(conn)?;
            lowest = match (lowest, key) {
                (Some(low), Some(key)) => Some(key.min(low)),
                (low, key) => low.or(key),
            };
        }
        let Some(lowest) = lowest else { return Ok(None) };
        let mut same = Vec::new();
        for cursor in &mut self.cursors {
            while cursor.peek(conn)? == Some(lowest) {
                same.extend(cursor.pop());
            }
        }
        merge_duplicates(&mut same);
        self.ready = same.into();
        Ok(Some(lowest))
    }

    /// Takes the next account. Returns `None` at the end.
    pub fn next(
        &mut self,
        conn: &mut SqliteConnection,
    ) -> Result<Option<RunAccount>, DatabaseError> {
        self.peek(conn)?;
        Ok(self.ready.pop_front())
    }

    /// Takes the next account if its key is below `key`.
    pub fn next_below(
        &mut self,
        conn: &mut SqliteConnection,
        key: i64,
    ) -> Result<Option<RunAccount>, DatabaseError> {
        match self.peek(conn)? {
            Some(next) if next < key => self.next(conn),
            _ => Ok(None),
        }
    }

    /// Takes the account with key `k`, `domain_id` and `local`, if any. Accounts with lower keys
    /// must already have been taken.
    pub fn take_same(
        &mut self,
        conn: &mut SqliteConnection,
        k: i64,
        domain_id: i32,
        local: &str,
    ) -> Result<Option<RunAccount>, DatabaseError> {
        if self.peek(conn)? != Some(k) {
            return Ok(None);
        }
        let same = |account: &RunAccount| account.domain_id == domain_id && account.local == local;
        let place = self.ready.iter().position(same);
        Ok(place.and_then(|place| self.ready.remove(place)))
    }
}
