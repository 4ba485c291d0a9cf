//! Lists of categories and tags.

use std::collections::HashMap;

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::links;
use super::read_transactions::read_transaction;
use super::schema::terms;
use super::sql::Sql;
use super::terms::Row;
use crate::model::list::{Paging, TermFilter, TermOrder};
use crate::model::search;
use crate::model::term::{Taxonomy, Term};

/// Returns a page of terms and the total number of matches.
pub fn page(
    db: &mut Db,
    taxonomy: Taxonomy,
    filter: &TermFilter,
    paging: Paging,
) -> Result<(Vec<Term>, i64), DatabaseError> {
    read_transaction(db, |db| {
        let mut count = Sql::new(db, "select count(*) as n ");
        append_conditions(db, &mut count, taxonomy, filter)?;
        let total = count.number(db)?;
        if total <= paging.offset() {
            return Ok((Vec::new(), total));
        }
        let mut sql = Sql::new(db, "select t.id as id ");
        append_conditions(db, &mut sql, taxonomy, filter)?;
        append_order(&mut sql, filter);
        sql.push(&format!(" limit {} offset {}", paging.per_page, paging.offset()));
        let ids = sql.load_ids(db)?;
        let rows: Vec<Row> =
            terms::table.filter(terms::id.eq_any(ids.clone())).select(Row::as_select()).load(db)?;
        let mut found: HashMap<i64, Term> =
            rows.into_iter().map(|row| (row.id, Term::from(row))).collect();
        Ok((ids.iter().filter_map(|id| found.remove(id)).collect(), total))
    })
}

fn append_conditions(
    db: &mut Db,
    sql: &mut Sql,
    taxonomy: Taxonomy,
    filter: &TermFilter,
) -> Result<(), DatabaseError> {
    let TermFilter {
        search,
        include,
        exclude,
        slugs,
        parent,
        event,
        hide_empty,
        // Handled by `append_order`.
        order: _,
        descending: _,
    } = filter;
    sql.push(&format!("from terms t where t.taxonomy = {}", taxonomy.code()));
    if let Some(search) = search {
        let needle = search::fold(search);
        sql.push(" and (").contains("t.search_ci", &needle).push(" or ");
        sql.contains("t.slug", &needle).push(")");
    }
    if let Some(ids) = include {
        sql.push(" and t.id in ").ids(ids);
    }
    if !exclude.is_empty() {
        sql.push(" and t.id not in ").ids(exclude);
    }
    if let Some(slugs) = slugs {
        sql.push(" and t.slug in ").texts(slugs.iter().map(String::as_str));
    }
    if let Some(parent) = parent {
        sql.push(&format!(" and t.parent_id = {parent}"));
    }
    if let Some(event) = event {
        let ids = links::terms_of(db, *event, taxonomy)?;
        sql.push(" and t.id in ").ids(&ids);
    } else if *hide_empty {
        match taxonomy {
            Taxonomy::Tag => sql.push(" and t.count > 0"),
            Taxonomy::Category => sql.push(
                " and t.id in (with recursive used (id, parent_id) as (\
                 select id, parent_id from terms where taxonomy = 1 and count > 0 \
                 union select p.id, p.parent_id from terms p join used u on p.id = u.parent_id) \
                 select id from used)",
            ),
        };
    }
    Ok(())
}

fn append_order(sql: &mut Sql, filter: &TermFilter) {
    let way = if filter.descending { "desc" } else { "asc" };
    sql.push(" order by ");
    match filter.order {
        TermOrder::Id => sql.push("t.id"),
        TermOrder::Name => sql.sorted("t.name_ci"),
        TermOrder::Slug => sql.sorted("t.slug"),
        TermOrder::Description => sql.sorted("t.description"),
        TermOrder::Parent => sql.push("t.parent_id"),
        TermOrder::Count => sql.push("t.count"),
        TermOrder::Given if filter.include.is_none() && filter.slugs.is_none() => {
            sql.sorted("t.name_ci")
        }
        TermOrder::Given => given_order(sql, filter),
    };
    // Ties sort the same way in both directions.
    sql.push(&format!(" {way}, t.id"));
}

/// Sorts terms in the order given by the client.
fn given_order<'a>(sql: &'a mut Sql, filter: &TermFilter) -> &'a mut Sql {
    if let Some(ids) = &filter.include {
        let arms: Vec<String> =
            ids.iter().enumerate().map(|(place, id)| format!("when {id} then {place}")).collect();
        let arms = if arms.is_empty() { "when -1 then 0".to_owned() } else { arms.join(" ") };
        return sql.push(&format!("case t.id {arms} end"));
    }
    sql.push("case t.slug when '' then 0");
    for (place, slug) in filter.slugs.iter().flatten().enumerate() {
        sql.push(" when ").bind(slug.as_str()).push(&format!(" then {place}"));
    }
    sql.push(" end")
}
