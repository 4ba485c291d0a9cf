//! Determines how a load changes a group of accounts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use diesel::sql_types::{BigInt, Binary, Integer, SmallInt, Text};
use diesel::{Queryable, QueryableByName};

use crate::model::id_list;
use crate::store::accounts::new_account::NewAccount;
use crate::store::domain_accounts::DomainAccount;

/// An account that is already stored.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, QueryableByName)]
pub(super) struct Stored {
    #[diesel(sql_type = BigInt)]
    pub k: i64,
    #[diesel(sql_type = SmallInt)]
    pub seq: i16,
    #[diesel(sql_type = Integer)]
    pub domain_id: i32,
    #[diesel(sql_type = Text)]
    pub local: String,
    #[diesel(sql_type = Binary)]
    pub breaches: Vec<u8>,
}

/// The by-domain index entry for a new account.
pub(super) fn filed(account: NewAccount<'_>, seq: i16) -> DomainAccount {
    DomainAccount { domain_id: account.domain_id, k: account.k, seq }
}

/// New links and index entries so far in a transaction.
#[derive(Debug, Default)]
pub struct Linked {
    /// New links per breach.
    pub added: BTreeMap<u16, i64>,
    /// Accounts that still need a by-domain index entry.
    pub filings: Vec<DomainAccount>,
    /// Whether any keys in the last group were already stored (SQLite).
    pub(super) meets_known: bool,
    /// Whether too many accounts in a group couldn't be updated by appending the id to their lists
    /// (PostgreSQL).
    pub(super) meets_later: bool,
}

impl Linked {
    /// Counts `accounts` new links for each breach in `list`.
    pub(super) fn count(&mut self, list: &[u8], accounts: i64) {
        for id in id_list::ids(list) {
            *self.added.entry(id).or_default() += accounts;
        }
    }
}

/// An account to write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change<'a> {
    pub account: NewAccount<'a>,
    pub seq: i16,
    pub list: Cow<'a, [u8]>,
    /// Whether the account is already stored.
    pub exists: bool,
}

/// Compares a group with the accounts stored under its keys. Both must be sorted by key, and each
/// key may occur only once in the group.
pub(super) fn changes<'a>(
    group: &[NewAccount<'a>],
    stored: &[Stored],
    linked: &mut Linked,
) -> Vec<Change<'a>> {
    let mut changes = Vec::with_capacity(group.len());
    let mut rest = stored;
    for &account in group {
        let before = rest.iter().take_while(|row| row.k < account.k).count();
        rest = &rest[before..];
        let same_key = &rest[..rest.iter().take_while(|row| row.k == account.k).count()];
        let is_own =
            |row: &&Stored| row.domain_id == account.domain_id && row.local == account.local;
        match same_key.iter().find(is_own) {
            None => {
                let seq = same_key.iter().map(|row| row.seq + 1).max().unwrap_or(0);
                linked.count(account.breaches, 1);
                linked.filings.push(filed(account, seq));
                let list = Cow::Borrowed(account.breaches);
                changes.push(Change { account, seq, list, exists: false });
            }
            Some(row) => {
                let Some(longer) = id_list::union(&row.breaches, account.breaches) else {
                    continue;
                };
                for id in id_list::ids(account.breaches) {
                    if !id_list::contains(&row.breaches, id) {
                        *linked.added.entry(id).or_default() += 1;
                    }
                }
                let list = Cow::Owned(longer);
                changes.push(Change { account, seq: row.seq, list, exists: true });
            }
        }
    }
    changes
}
