//! Writes accounts to a run.

use std::collections::BTreeSet;

use database::DatabaseError;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::block::{Block, BlockWriter, MAX_RUN, number};
use super::domain_block::{self, Place};
use super::filter::Filter;
use crate::model::id_list;
use crate::store::accounts::new_account::NewAccount;
use crate::store::schema::{account_block, account_run, domain_block as domain_blocks, run_filter};

/// Writes a run. This happens in a single transaction, so partial runs are never visible.
pub struct RunWriter {
    run: i64,
    block: BlockWriter,
    keys: Vec<i64>,
    places: Vec<Place>,
    breaches: BTreeSet<u16>,
    /// The last list whose breaches were added. Most accounts have the same one.
    noted: Vec<u8>,
}

#[derive(QueryableByName)]
struct Last {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

impl RunWriter {
    /// Starts a run with the next free id.
    pub fn new(conn: &mut SqliteConnection) -> Result<Self, DatabaseError> {
        let last: Option<Last> =
            diesel::sql_query("SELECT seq FROM sqlite_sequence WHERE name = 'account_run'")
                .get_result(conn)
                .optional()?;
        let run = last.map_or(0, |last| last.seq) + 1;
        if run > MAX_RUN {
            return Err(DatabaseError::broken("there are no more run numbers"));
        }
        Ok(Self {
            run,
            block: BlockWriter::default(),
            keys: Vec::new(),
            places: Vec::new(),
            breaches: BTreeSet::new(),
            noted: Vec::new(),
        })
    }

    /// Adds an account. Accounts must be added in key order, without duplicates.
    pub fn push(
        &mut self,
        conn: &mut SqliteConnection,
        account: NewAccount<'_>,
    ) -> Result<(), DatabaseError> {
        let NewAccount { k, domain_id, breaches, .. } = account;
        self.keys.push(k);
        self.places.push(Place::of(domain_id, k));
        if self.noted != breaches {
            self.breaches.extend(id_list::ids(breaches));
            breaches.clone_into(&mut self.noted);
        }
        match self.block.push(account) {
            Some(full) => self.write(conn, &full),
            None => Ok(()),
        }
    }

    fn write(&self, conn: &mut SqliteConnection, block: &Block) -> Result<(), DatabaseError> {
        diesel::insert_into(account_block::table)
            .values((
                account_block::id.eq(number(self.run, block.first)),
                account_block::data.eq(&block.data),
            ))
            .execute(conn)?;
        Ok(())
    }

    /// Writes whatever is still buffered. If no accounts were added, no run is stored.
    pub fn finish(mut self, conn: &mut SqliteConnection) -> Result<(), DatabaseError> {
        let (Some(low), Some(high)) = (self.keys.first(), self.keys.last()) else { return Ok(()) };
        if let Some(block) = self.block.finish() {
            self.write(conn, &block)?;
        }
        self.places.sort_unstable();
        self.places.dedup();
        for block in domain_block::blocks(&self.places) {
            diesel::insert_into(domain_blocks::table)
                .values((
                    domain_blocks::run.eq(self.run),
                    domain_blocks::first.eq(block.first),
                    domain_blocks::data.eq(block.data),
                ))
                .execute(conn)?;
        }
        let ids: Vec<u16> = self.breaches.into_iter().collect();
        diesel::insert_into(account_run::table)
            .values((
                account_run::id.eq(self.run),
                account_run::accounts.eq(i64::try_from(self.keys.len()).unwrap_or(i64::MAX)),
                account_run::low.eq(low),
                account_run::high.eq(high),
                account_run::breaches.eq(id_list::pack(&ids)),
            ))
            .execute(conn)?;
        let filter = Filter::of(&self.keys).to_bytes();
        diesel::insert_into(run_filter::table)
            .values((run_filter::run.eq(self.run), run_filter::data.eq(filter)))
            .execute(conn)?;
        Ok(())
    }
}
