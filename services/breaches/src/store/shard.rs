//! The `shard` column of the PostgreSQL account tables: the first 12 bits of the hash.
//!
//! The shard can be derived from the key, but a distributed database needs it for routing. Any
//! condition on a key or a range of keys must therefore include it. For a single server, it makes
//! no difference.

use std::marker::PhantomData;

use database::MultiBackend;
use diesel::backend::Backend;
use diesel::expression::{
    AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate,
};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Bool, HasSqlType, SmallInt};
use diesel::sqlite::Sqlite;

use super::schema::{account, paste_account, stealer_log};

/// Number of shards.
pub const SHARDS: i16 = 4_096;

/// Computes the shard of a key.
pub fn of_key(k: i64) -> i16 {
    // The arithmetic shift leaves 12 bits, including the sign bit.
    i16::try_from((k >> 52) + i64::from(SHARDS / 2)).unwrap_or_default()
}

/// Returns the lowest and highest key in a shard.
pub fn keys(shard: i16) -> (i64, i64) {
    let low = (i64::from(shard) - i64::from(SHARDS / 2)) << 52;
    (low, low | ((1 << 52) - 1))
}

/// A table with `k` and `shard` columns.
pub trait Keyed {
    /// Table name.
    const NAME: &str;
}

impl Keyed for account::table {
    const NAME: &str = "account";
}

impl Keyed for stealer_log::table {
    const NAME: &str = "stealer_log";
}

impl Keyed for paste_account::table {
    const NAME: &str = "paste_account";
}

/// Matches rows with a given key.
#[derive(Clone, Copy, Debug)]
pub struct KeyIs<T> {
    k: i64,
    shard: i16,
    table: PhantomData<T>,
}

/// Builds a condition that matches rows with a given key.
pub fn key_is<T: Keyed>(k: i64) -> KeyIs<T> {
    KeyIs { k, shard: of_key(k), table: PhantomData }
}

/// Matches rows whose key is in a range.
#[derive(Clone, Copy, Debug)]
pub struct KeyBetween<T> {
    low: i64,
    high: i64,
    shard: i16,
    table: PhantomData<T>,
}

/// Builds a condition that matches rows with keys from `low` to `high`, inclusive. Both must be in
/// the same shard.
pub fn key_between<T: Keyed>(low: i64, high: i64) -> KeyBetween<T> {
    debug_assert_eq!(of_key(low), of_key(high));
    KeyBetween { low, high, shard: of_key(low), table: PhantomData }
}

fn push_column<T: Keyed, D: Backend>(
    out: &mut AstPass<'_, '_, D>,
    column: &str,
) -> QueryResult<()> {
    out.push_identifier(T::NAME)?;
    out.push_sql(".");
    out.push_identifier(column)
}

/// Writes an opening parenthesis and the condition on the shard. The caller has to close the
/// parenthesis.
fn open_shard<'b, T: Keyed>(out: &mut AstPass<'_, 'b, Pg>, shard: &'b i16) -> QueryResult<()> {
    out.push_sql("(");
    push_column::<T, _>(out, "shard")?;
    out.push_sql(" = ");
    out.push_bind_param::<SmallInt, _>(shard)?;
    out.push_sql(" AND ");
    Ok(())
}

impl<T: Keyed> KeyIs<T> {
    fn push<'b, D>(&'b self, out: &mut AstPass<'_, 'b, D>) -> QueryResult<()>
    where
        D: Backend + HasSqlType<BigInt>,
        i64: ToSql<BigInt, D>,
    {
        push_column::<T, _>(out, "k")?;
        out.push_sql(" = ");
        out.push_bind_param::<BigInt, _>(&self.k)
    }
}

impl<T: Keyed> QueryFragment<Sqlite> for KeyIs<T> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.push(&mut out)
    }
}

impl<T: Keyed> QueryFragment<Pg> for KeyIs<T> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        open_shard::<T>(&mut out, &self.shard)?;
        self.push(&mut out)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<T: Keyed> KeyBetween<T> {
    fn push<'b, D>(&'b self, out: &mut AstPass<'_, 'b, D>) -> QueryResult<()>
    where
        D: Backend + HasSqlType<BigInt>,
        i64: ToSql<BigInt, D>,
    {
        push_column::<T, _>(out, "k")?;
        out.push_sql(" BETWEEN ");
        out.push_bind_param::<BigInt, _>(&self.low)?;
        out.push_sql(" AND ");
        out.push_bind_param::<BigInt, _>(&self.high)
    }
}

impl<T: Keyed> QueryFragment<Sqlite> for KeyBetween<T> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.push(&mut out)
    }
}

impl<T: Keyed> QueryFragment<Pg> for KeyBetween<T> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        open_shard::<T>(&mut out, &self.shard)?;
        self.push(&mut out)?;
        out.push_sql(")");
        Ok(())
    }
}

/// Implements Diesel's traits for a condition.
macro_rules! condition {
    ($name:ident) => {
        impl<T: Keyed> QueryFragment<MultiBackend> for $name<T> {
            fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
                MultiBackend::walk_variant_ast(self, out)
            }
        }

        impl<T: Keyed + 'static> QueryId for $name<T> {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl<T> Expression for $name<T> {
            type SqlType = Bool;
        }

        impl<T> ValidGrouping<()> for $name<T> {
            type IsAggregate = is_aggregate::No;
        }

        impl<T, Q> AppearsOnTable<Q> for $name<T> {}
        impl<T, Q> SelectableExpression<Q> for $name<T> {}
    };
}

condition!(KeyIs);
condition!(KeyBetween);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_is_the_first_12_bits_of_the_hash() {
        assert_eq!(
            (of_key(i64::MIN), of_key(-1), of_key(0), of_key(i64::MAX)),
            (0, 2_047, 2_048, 4_095)
        );
        assert_eq!(keys(0).0, i64::MIN);
        assert_eq!(keys(SHARDS - 1).1, i64::MAX);
        for shard in 0..SHARDS {
            let (low, high) = keys(shard);
            assert_eq!((of_key(low), of_key(high)), (shard, shard));
            assert!(shard == 0 || keys(shard - 1).1 == low - 1);
        }
    }

    #[test]
    fn conditions_name_the_shard_on_postgres_only() {
        let query = account::table.filter(key_is::<account::table>(5)).select(account::local);
        let sqlite = diesel::debug_query::<Sqlite, _>(&query).to_string();
        let postgres = diesel::debug_query::<Pg, _>(&query).to_string();
        assert!(!sqlite.contains("shard") && sqlite.contains("`account`.`k` = ?"), "{sqlite}");
        assert!(
            postgres.contains(r#""account"."shard" = $1 AND "account"."k" = $2"#),
            "{postgres}"
        );
    }
}
