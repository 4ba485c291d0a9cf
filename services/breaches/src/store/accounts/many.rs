//! Reads the accounts of many addresses at once.

use std::collections::BTreeSet;

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::read::joined;
use super::routed;
use super::rows::AccountRow;
use super::runs::{self, AccountView};
use crate::model::AccountKey;
use crate::store::schema::{account, mail_domain};

/// Reads accounts by key, using a single query for the table. On SQLite, call this in the
/// transaction that `view` was read in.
pub fn with_keys(
    db: &mut Db,
    view: Option<&AccountView>,
    keys: &[AccountKey],
) -> Result<Vec<AccountRow>, DatabaseError> {
    let keys: BTreeSet<i64> = keys.iter().map(|key| key.0).collect();
    let conn = match db {
        Db::Pg(_) => return routed::with_keys(db, &keys),
        Db::Sqlite(conn) => conn,
    };
    let rows: Vec<(AccountRow, i32)> = account::table
        .inner_join(mail_domain::table)
        .filter(account::k.eq_any(&keys))
        .select((
            (account::k, account::seq, account::local, mail_domain::name, account::breaches),
            account::domain_id,
        ))
        .load(conn)?;
    let mut others = Vec::new();
    for k in keys {
        others.extend(runs::between(conn, view, k, k)?);
    }
    joined(conn, view, rows, others)
}
