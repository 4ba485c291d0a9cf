//! Walking runs in the order of keys.

use std::collections::VecDeque;

use database::DatabaseError;
use diesel::SqliteConnection;

use super::block::Accounts;
use super::run_account::{RunAccount, merge_duplicates};
use super::stored::{self, StoredBlock};

/// Accounts of one run in the order of their keys.
pub trait Cursor {
    /// The key of the next one.
    fn peek(&mut self, conn: &mut SqliteConnection) -> Result<Option<i64>, DatabaseError>;

    /// The one whose key was seen.
    fn pop(&mut self) -> Option<RunAccount>;
}

/// Where the next blocks of a run begin.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// With the block that may have this key.
    Key(i64),
    /// With the next one behind this.
    Behind(i64),
    End,
}

/// The accounts of a run from a key on.
pub struct RunCursor {
    run: i64,
    low: i64,
    next: Next,
    ready: VecDeque<RunAccount>,
    /// Whether what is read is removed.
    consumes: bool,
}

impl RunCursor {
    /// Begins with the lowest key that is not below `low`.
    pub fn from(run: i64, low: i64) -> Self {
        Self { run, low, next: Next::Key(low), ready: VecDeque::new(), consumes: false }
    }

    /// Takes all accounts out of a run, whose pages then are free for others.
    pub fn consuming(run: i64) -> Self {
        Self { consumes: true, ..Self::from(run, i64::MIN) }
    }

    fn fill(&mut self, conn: &mut SqliteConnection) -> Result<(), DatabaseError> {
        let from = match self.next {
            Next::Key(key) => stored::start(conn, self.run, key)?,
            Next::Behind(i64::MAX) | Next::End => return Ok(()),
            Next::Behind(first) => first + 1,
        };
        let blocks = stored::blocks(conn, self.run, from, i64::MAX)?;
        self.next = blocks.last().map_or(Next::End, |block| Next::Behind(block.first));
        for StoredBlock { data, .. } in &blocks {
            for account in Accounts(data) {
                let account = account?;
                if account.k >= self.low {
                    self.ready.push_back(account.into());
                }
            }
        }
        if let (true, Some(first), Some(last)) = (self.consumes, blocks.first(), blocks.last()) {
            stored::remove_blocks(conn, self.run, first.first, last.first)?;
        }
        Ok(())
    }
}

impl Cursor for RunCursor {
    fn peek(&mut self, conn: &mut SqliteConnection) -> Result<Option<i64>, DatabaseError> {
        while self.ready.is_empty() && !matches!(self.next, Next::End | Next::Behind(i64::MAX)) {
            self.fill(conn)?;
        }
        Ok(self.ready.front().map(|account| account.k))
    }

    fn pop(&mut self) -> Option<RunAccount> {
        self.ready.pop_front()
    }
}

/// The accounts of several runs in the order of their keys, each once.
pub struct Merged<C> {
    cursors: Vec<C>,
    /// Accounts with one key.
    ready: VecDeque<RunAccount>,
}

impl<C: Cursor> Merged<C> {
    /// Merges runs.
    pub fn new(cursors: Vec<C>) -> Self {
        Self { cursors, ready: VecDeque::new() }
    }

    /// The key of the next account.
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

    /// The next account.
    pub fn next(
        &mut self,
        conn: &mut SqliteConnection,
    ) -> Result<Option<RunAccount>, DatabaseError> {
        self.peek(conn)?;
        Ok(self.ready.pop_front())
    }

    /// The next account, if its key is below another one.
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

    /// Takes the account with a key, a domain and a local part out of what comes next; those with
    /// lower keys were taken before.
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
