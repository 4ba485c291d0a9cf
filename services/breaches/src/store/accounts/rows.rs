//! Rows of queries for accounts.

use diesel::prelude::*;

use super::runs::RunAccount;
use crate::model::{AccountKey, address_text, id_list};

/// Sequence number of accounts that don't have a row. Pastes and stealer logs never refer to them.
pub const IN_RUNS: i16 = -1;

/// An account along with its domain's name.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct AccountRow {
    /// Account key; see [`AccountKey`].
    pub k: i64,
    /// Sequence number among addresses with this key, or [`IN_RUNS`].
    pub seq: i16,
    /// Local part as stored; see [`address_text`].
    pub local: String,
    /// Domain as A-labels.
    pub domain: String,
    /// Packed breach ids.
    pub breaches: Vec<u8>,
}

impl AccountRow {
    /// Returns the normalized address.
    pub fn address(&self) -> String {
        address_text::full_text(&self.local, &self.domain)
    }

    /// Returns the local part without the original spelling of the domain.
    pub fn alias(&self) -> &str {
        address_text::alias(&self.local)
    }

    /// Converts an account from a run.
    pub(super) fn of_run(account: RunAccount, domain: String) -> Self {
        let RunAccount { k, local, breaches, .. } = account;
        Self { k, seq: IN_RUNS, local, domain, breaches }
    }

    /// Merges in breaches found in runs.
    pub(super) fn add(&mut self, breaches: &[u8]) {
        self.breaches = merged(&self.breaches, breaches);
    }

    /// Returns the key as an [`AccountKey`].
    pub fn key(&self) -> AccountKey {
        AccountKey(self.k)
    }
}

/// An account in a range. Doesn't include the key because it can be computed from the address.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct RangeRow {
    /// Local part as stored; see [`address_text`].
    pub local: String,
    /// Domain as A-labels.
    pub domain: String,
    /// Packed breach ids.
    pub breaches: Vec<u8>,
}

impl RangeRow {
    /// Merges in breaches found in runs.
    pub(super) fn add(&mut self, breaches: &[u8]) {
        self.breaches = merged(&self.breaches, breaches);
    }
}

fn merged(list: &[u8], more: &[u8]) -> Vec<u8> {
    id_list::union(list, more).unwrap_or_else(|| list.to_vec())
}
