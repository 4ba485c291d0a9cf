//! Upgrade steps that SQL migrations cannot do.

use database::{DatabaseError, Db};

use super::sql::{Sql, TextRow, one_writer};
use crate::model::search;

/// Number of rows that one statement reads.
const CHUNK: i64 = 1000;

/// Tables with searched texts, and the source columns of these texts.
const TEXTS: [(&str, &str); 3] =
    [("venues", "search_ci"), ("organizers", "search_ci"), ("terms", "name_ci")];

/// Completes pending upgrades, once, inside a transaction.
pub fn finish(db: &mut Db) -> Result<(), DatabaseError> {
    const NAME: &str = "folded search";
    let known = "select count(*) as n from upgrades where name = ";
    let mut sql = Sql::new(db, known);
    sql.bind(NAME);
    if sql.number(db)? > 0 {
        return Ok(());
    }
    one_writer(db)?;
    for (table, source) in TEXTS {
        fold(db, table, source)?;
    }
    let mut sql = Sql::new(db, "insert into upgrades (name) values (");
    sql.bind(NAME).push(") on conflict do nothing");
    sql.execute(db).map(drop)
}

fn fold(db: &mut Db, table: &str, source: &str) -> Result<(), DatabaseError> {
    let mut last = i64::MIN;
    loop {
        let mut sql =
            Sql::new(db, &format!("select id, {source} as text from {table} where id > "));
        sql.value(last).push(" order by id limit ").value(CHUNK);
        let rows: Vec<TextRow> = sql.load(db)?;
        let Some(end) = rows.last() else { return Ok(()) };
        last = end.id;
        for row in rows {
            let folded = search::fold(&row.text);
            if folded != row.text || source != "search_ci" {
                let mut sql = Sql::new(db, &format!("update {table} set search_ci = "));
                sql.bind(folded).push(" where id = ").value(row.id);
                sql.execute(db)?;
            }
        }
    }
}
