//! Accounts in runs.

use std::cmp::Ordering;

use crate::model::id_list;
use crate::store::accounts::new_account::NewAccount;

/// An account in a run. Unlike rows, it doesn't have a `seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAccount {
    /// Account key.
    pub k: i64,
    pub domain_id: i32,
    /// Local part as stored.
    pub local: String,
    /// Packed ids of its breaches.
    pub breaches: Vec<u8>,
}

impl RunAccount {
    /// Borrows this as a [`NewAccount`].
    pub fn as_new(&self) -> NewAccount<'_> {
        let Self { k, domain_id, local, breaches } = self;
        NewAccount { k: *k, domain_id: *domain_id, local, breaches }
    }

    fn order(&self, other: &Self) -> Ordering {
        let identity = |account: &Self| (account.k, account.domain_id);
        identity(self).cmp(&identity(other)).then_with(|| self.local.cmp(&other.local))
    }
}

impl From<NewAccount<'_>> for RunAccount {
    fn from(account: NewAccount<'_>) -> Self {
        let NewAccount { k, domain_id, local, breaches } = account;
        Self { k, domain_id, local: local.to_owned(), breaches: breaches.to_vec() }
    }
}

/// Sorts accounts by key and merges duplicates.
pub fn merge_duplicates(accounts: &mut Vec<RunAccount>) {
    if accounts.len() < 2 {
        return;
    }
    accounts.sort_by(RunAccount::order);
    accounts.dedup_by(|next, kept| {
        let same = kept.order(next) == Ordering::Equal;
        if same && let Some(longer) = id_list::union(&kept.breaches, &next.breaches) {
            kept.breaches = longer;
        }
        same
    });
}
