//! Writes a load's accounts to the table or a run.

use database::{DatabaseError, Db};

use super::batches::{self, Linked};
use super::compaction::Placement;
use super::new_account::NewAccount;
use super::runs::RunWriter;
use crate::store::unfiled_accounts;

/// Writes the accounts of one transaction in key order.
pub struct AccountWriter<'a> {
    run: Option<RunWriter>,
    staged: Option<Vec<NewAccount<'a>>>,
    has_links: bool,
}

impl<'a> AccountWriter<'a> {
    /// Starts writing. `has_links` may be `false` only if none of the breaches has any links yet;
    /// appending then doesn't have to read anything.
    pub fn new(db: &mut Db, placement: Placement, has_links: bool) -> Result<Self, DatabaseError> {
        let run = match (placement, db) {
            (Placement::Appended, Db::Sqlite(conn)) => Some(RunWriter::new(conn)?),
            _ => None,
        };
        let staged = (placement == Placement::Staged).then(Vec::new);
        Ok(Self { run, staged, has_links })
    }

    /// Links accounts to their breaches and records the changes in `linked`.
    pub fn write(
        &mut self,
        db: &mut Db,
        new: &[NewAccount<'a>],
        linked: &mut Linked,
    ) -> Result<(), DatabaseError> {
        if let Some(staged) = &mut self.staged {
            staged.extend_from_slice(new);
            return Ok(());
        }
        match (&mut self.run, db) {
            (Some(run), Db::Sqlite(conn)) => {
                batches::append(conn, new, self.has_links, run, linked)
            }
            (_, db) => batches::link(db, new, linked),
        }
    }

    /// Writes whatever is still buffered.
    pub fn finish(self, db: &mut Db, linked: &mut Linked) -> Result<(), DatabaseError> {
        match (self.run, db) {
            (Some(run), Db::Sqlite(conn)) => run.finish(conn),
            (_, Db::Pg(conn)) => match self.staged {
                Some(staged) => batches::link_staged(conn, &staged, linked),
                None => Ok(()),
            },
            (_, db) => unfiled_accounts::file(db, &mut linked.filings),
        }
    }
}
