//! ID list conditions. Their SQL doesn't depend on the number of ids, so each connection prepares a
//! statement only once.

use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool, Text};
use diesel::sqlite::Sqlite;

/// The right-hand side of a condition: `= any($1)`, or the equivalent on SQLite.
#[derive(Debug)]
pub struct AmongIds<'a> {
    ids: &'a [i64],
    /// The ids as a JSON array, which is bound on SQLite.
    json: String,
}

impl<'a> AmongIds<'a> {
    pub fn of(ids: &'a [i64]) -> Self {
        let written: Vec<String> = ids.iter().map(i64::to_string).collect();
        Self { ids, json: format!("[{}]", written.join(",")) }
    }
}

impl QueryFragment<Pg> for AmongIds<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("= any(");
        out.push_bind_param::<Array<BigInt>, _>(&self.ids)?;
        out.push_sql(")");
        Ok(())
    }
}

impl QueryFragment<Sqlite> for AmongIds<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("in (select value from json_each(");
        out.push_bind_param::<Text, _>(&self.json)?;
        out.push_sql("))");
        Ok(())
    }
}

/// Checks whether a column matches any of the given ids. Use this instead of `eq_any`, whose
/// statements SQLite would have to prepare every time.
#[derive(Debug)]
pub struct Among<'a, C>(C, AmongIds<'a>);

pub fn among<C>(column: C, ids: &[i64]) -> Among<'_, C> {
    Among(column, AmongIds::of(ids))
}

impl<C> Expression for Among<'_, C> {
    type SqlType = Bool;
}

impl<C: AppearsOnTable<S>, S> AppearsOnTable<S> for Among<'_, C> {}

impl<C: SelectableExpression<S>, S> SelectableExpression<S> for Among<'_, C> {}

impl<C: ValidGrouping<G>, G> ValidGrouping<G> for Among<'_, C> {
    type IsAggregate = C::IsAggregate;
}

impl<C: QueryId> QueryId for Among<'_, C> {
    type QueryId = Among<'static, C::QueryId>;
    const HAS_STATIC_QUERY_ID: bool = C::HAS_STATIC_QUERY_ID;
}

impl<C, B> QueryFragment<B> for Among<'_, C>
where
    B: diesel::backend::Backend,
    C: QueryFragment<B>,
    for<'i> AmongIds<'i>: QueryFragment<B>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, B>) -> QueryResult<()> {
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(" ");
        self.1.walk_ast(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema::events;

    fn is_kept<B>(statement: &impl QueryFragment<B>, backend: &B) -> bool
    where
        B: diesel::backend::Backend,
    {
        statement.is_safe_to_cache_prepared(backend).unwrap()
    }

    #[test]
    fn statement_with_ids_is_prepared_once() {
        let text = |ids| {
            let wanted = events::table.filter(among(events::id, ids)).select(events::id);
            assert!(is_kept(&wanted, &Sqlite) && is_kept(&wanted, &Pg));
            let shown = diesel::debug_query::<Sqlite, _>(&wanted).to_string();
            shown.split(" -- ").next().map(str::to_owned)
        };
        assert_eq!(text(&[7]), text(&[1, 2, 3]));
        let listed = events::table.filter(events::id.eq_any(&[7_i64])).select(events::id);
        assert!(!is_kept(&listed, &Sqlite));
    }
}
