//! Links groups of accounts on PostgreSQL.
//!
//! The first statement appends the breach id to the stored lists. If that doesn't work for every
//! account, a second statement reads the stored accounts and a third writes the changes.
//!
//! Distributed databases use `staged` instead.

use database::DatabaseError;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Binary, Integer, SmallInt, Text};

use super::changes::{Change, Linked, Stored, changes};
use crate::store::accounts::new_account::NewAccount;
use crate::store::shard;

/// Accounts per group. Large enough that round trips don't matter.
pub(super) const GROUP: usize = 1_000;

/// Stop trying to append once more than 1 in `MANY` accounts in a group can't be handled that way.
const MANY: usize = 10;

pub(super) fn link(
    conn: &mut PgConnection,
    group: &[NewAccount<'_>],
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    if !linked.meets_later
        && let Some(append) = Append::of(group)
    {
        let list = append.list;
        let written = append.execute(conn)?;
        linked.count(list, i64::try_from(written).map_err(DatabaseError::broken)?);
        let left = group.len().saturating_sub(written);
        linked.meets_later = left > group.len() / MANY;
        if left == 0 {
            return Ok(());
        }
    }
    let stored = with_keys(conn, group)?;
    let changes = changes(group, &stored, linked);
    if !changes.is_empty() {
        Upsert::of(&changes).execute(conn)?;
    }
    Ok(())
}

/// Reads stored accounts with the group's keys, sorted by key.
pub(super) fn with_keys(
    conn: &mut PgConnection,
    group: &[NewAccount<'_>],
) -> Result<Vec<Stored>, DatabaseError> {
    let keys: Vec<i64> = group.iter().map(|account| account.k).collect();
    let (Some(&low), Some(&high)) = (keys.first(), keys.last()) else { return Ok(Vec::new()) };
    Ok(WithKeys { keys: &keys, low, high }.load(conn)?)
}

/// Lets Diesel run a statement. Its SQL doesn't depend on the values, so it's prepared only once.
macro_rules! statement {
    ($name:ident) => {
        impl QueryId for $name<'_> {
            type QueryId = $name<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl RunQueryDsl<PgConnection> for $name<'_> {}
    };
}

/// Accounts as one array per column: `k`, `shard`, `domain_id` and `local`.
struct Columns<'a> {
    k: Vec<i64>,
    shard: Vec<i16>,
    domain_id: Vec<i32>,
    local: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(accounts: impl Iterator<Item = NewAccount<'a>> + Clone) -> Self {
        Self {
            k: accounts.clone().map(|account| account.k).collect(),
            shard: accounts.clone().map(|account| shard::of_key(account.k)).collect(),
            domain_id: accounts.clone().map(|account| account.domain_id).collect(),
            local: accounts.map(|account| account.local).collect(),
        }
    }

    /// Writes the columns as array arguments of `unnest`.
    fn push<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_bind_param::<Array<BigInt>, _>(&self.k)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<SmallInt>, _>(&self.shard)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.domain_id)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.local)
    }
}

/// Adds a breach to accounts, inserting those that don't exist.
///
/// Appends the id if it's higher than every id in the list, as it always is for a new breach. Skips
/// accounts that already have this id or a higher one, as well as different addresses with the same
/// key.
struct Append<'a> {
    accounts: Columns<'a>,
    list: &'a [u8],
    id: i32,
}

impl<'a> Append<'a> {
    /// Returns `None` unless every account is being linked to the same single breach.
    fn of(group: &[NewAccount<'a>]) -> Option<Self> {
        let list = group.first()?.breaches;
        let id = u16::from_le_bytes(list.try_into().ok()?);
        group.iter().all(|account| account.breaches == list).then(|| Self {
            accounts: Columns::of(group.iter().copied()),
            list,
            id: i32::from(id),
        })
    }
}

impl QueryFragment<Pg> for Append<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("INSERT INTO account (k, seq, shard, domain_id, local, breaches) SELECT k, 0, shard, domain_id, local, ");
        out.push_bind_param::<Binary, _>(self.list)?;
        out.push_sql(" FROM unnest(");
        self.accounts.push(&mut out)?;
        out.push_sql(
            ") AS brought (k, shard, domain_id, local) ON CONFLICT (k, seq, shard) \
             DO UPDATE SET breaches = account.breaches || excluded.breaches \
             WHERE account.domain_id = excluded.domain_id AND account.local = excluded.local \
             AND (length(account.breaches) = 0 OR get_byte(account.breaches, length(account.breaches) - 1) * 256 \
             + get_byte(account.breaches, length(account.breaches) - 2) < ",
        );
        out.push_bind_param::<Integer, _>(&self.id)?;
        out.push_sql(")");
        Ok(())
    }
}

statement!(Append);

/// Query for accounts by key. The lowest and highest keys let PostgreSQL prune partitions.
struct WithKeys<'a> {
    keys: &'a [i64],
    low: i64,
    high: i64,
}

impl Query for WithKeys<'_> {
    type SqlType = (BigInt, SmallInt, Integer, Text, Binary);
}

impl QueryFragment<Pg> for WithKeys<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT k, seq, domain_id, local, breaches FROM account WHERE k = ANY(");
        out.push_bind_param::<Array<BigInt>, _>(self.keys)?;
        out.push_sql(") AND k BETWEEN ");
        out.push_bind_param::<BigInt, _>(&self.low)?;
        out.push_sql(" AND ");
        out.push_bind_param::<BigInt, _>(&self.high)?;
        out.push_sql(" ORDER BY k, seq");
        Ok(())
    }
}

statement!(WithKeys);

struct Upsert<'a> {
    accounts: Columns<'a>,
    seq: Vec<i16>,
    breaches: Vec<&'a [u8]>,
}

impl<'a> Upsert<'a> {
    fn of(changes: &'a [Change<'a>]) -> Self {
        Self {
            accounts: Columns::of(changes.iter().map(|change| change.account)),
            seq: changes.iter().map(|change| change.seq).collect(),
            breaches: changes.iter().map(|change| &*change.list).collect(),
        }
    }
}

impl QueryFragment<Pg> for Upsert<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "INSERT INTO account (k, shard, domain_id, local, seq, breaches) SELECT * FROM unnest(",
        );
        self.accounts.push(&mut out)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<SmallInt>, _>(&self.seq)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Binary>, _>(&self.breaches)?;
        out.push_sql(") ON CONFLICT (k, seq, shard) DO UPDATE SET breaches = excluded.breaches");
        Ok(())
    }
}

statement!(Upsert);
