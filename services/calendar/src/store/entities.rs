//! The id space shared by events, venues, organizers and images.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::entities;
use super::sql::Sql;

/// Kind code for events.
pub const EVENT: i32 = 1;
/// Kind code for images.
pub const IMAGE: i32 = 4;

pub fn allocate(db: &mut Db, kind: i32) -> Result<i64, DatabaseError> {
    let id = diesel::insert_into(entities::table)
        .values(entities::kind.eq(kind))
        .returning(entities::id)
        .get_result(db)?;
    Ok(id)
}

/// Allocates ids for several new rows, in ascending order.
pub fn allocate_all(db: &mut Db, kind: i32, count: usize) -> Result<Vec<i64>, DatabaseError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let text = format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < {count}) \
         insert into entities (kind) select {kind} from n returning id"
    );
    let mut ids = Sql::new(db, &text).load_ids(db)?;
    ids.sort_unstable();
    Ok(ids)
}

/// The largest id that an import from another site can keep. Without a limit, a site could exhaust
/// the id space.
const LARGEST_KEPT: i64 = 1 << 40;

/// Allocates the id `wanted`, which comes from another site, or the next id if it is taken. Ids of
/// erased events count as taken.
pub fn allocate_as(db: &mut Db, kind: i32, wanted: Option<i64>) -> Result<i64, DatabaseError> {
    let Some(id) = wanted.filter(|id| (1..=LARGEST_KEPT).contains(id)) else {
        return allocate(db, kind);
    };
    let text = format!(
        "select (select count(*) from entities where id = {id}) + \
         (select count(*) from event_tombstones where event_id = {id}) as n"
    );
    if Sql::new(db, &text).number(db)? > 0 {
        return allocate(db, kind);
    }
    let row = (entities::id.eq(id), entities::kind.eq(kind));
    diesel::insert_into(entities::table).values(row).execute(db)?;
    raise_sequence(db, "entities", id)?;
    Ok(id)
}

/// Returns whether this id from another site is free in a table.
pub fn is_free(db: &mut Db, table: &str, id: i64) -> Result<bool, DatabaseError> {
    let text = format!("select count(*) as n from {table} where id = {id}");
    Ok((1..=LARGEST_KEPT).contains(&id) && Sql::new(db, &text).number(db)? == 0)
}

/// Makes sure that the table's next id is greater than `id` and than all existing ids.
pub fn raise_sequence(db: &mut Db, table: &str, id: i64) -> Result<(), DatabaseError> {
    if let Db::Pg(_) = db {
        let sequence = format!("pg_get_serial_sequence('{table}', 'id')");
        let text = format!(
            "select setval({sequence}, greatest({id}, (select coalesce(max(id), 1) from {table}), \
             (select coalesce(last_value, 1) from pg_sequences where schemaname = current_schema() and \
             sequencename = '{table}_id_seq'))) as n"
        );
        return Sql::new(db, &text).number(db).map(drop);
    }
    let text = format!("update sqlite_sequence set seq = max(seq, {id}) where name = '{table}'");
    if Sql::new(db, &text).execute(db)? == 0 {
        let text = format!("insert into sqlite_sequence (name, seq) values ('{table}', {id})");
        Sql::new(db, &text).execute(db)?;
    }
    Ok(())
}

/// Returns the kind code of the resource with this id, if any.
pub fn kind_of(db: &mut Db, id: i64) -> Result<Option<i32>, DatabaseError> {
    Ok(entities::table.find(id).select(entities::kind).first(db).optional()?)
}
