//! The rows that the index is built from, and the change log that it follows.

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};

use crate::model::schedule::{instant_from_seconds, wall_seconds};
use crate::model::window::SetBack;
use crate::model::zone::Zone;
use crate::store::sql::Sql;

/// Number of events that one statement reads.
const CHUNK: i64 = 5000;

/// Bytes of searched texts that one statement reads, unless a single event has more.
const CHUNK_BYTES: i64 = 8 << 20;

/// Number of changes that stay in the log for processes that follow it.
const KEPT: i64 = 10_000;

/// Bytes of old texts that stay in the log.
const KEPT_BYTES: i64 = 32 << 20;

/// Bytes of old texts after which a writer prunes the log itself.
const PRUNED_EVERY: i64 = 4 << 20;

/// An event as the index reads it.
#[derive(QueryableByName)]
pub struct Entry {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = Text)]
    pub status: String,
    #[diesel(sql_type = Text)]
    pub search_ci: String,
    /// The zone, if the clock may be set back during the event.
    #[diesel(sql_type = Nullable<Text>)]
    pub set_back_zone: Option<String>,
    #[diesel(embed)]
    pub columns: Columns,
}

impl Entry {
    /// Returns the local times that occur twice during the event, if any.
    pub fn set_back(&self) -> Option<SetBack> {
        let zone = Zone::parse(self.set_back_zone.as_deref()?)?;
        let Columns { start_utc, end_utc, start_local, end_local, .. } = self.columns;
        let (start, end) = (instant_from_seconds(start_utc), instant_from_seconds(end_utc));
        let (from, to) = zone.last_set_back(start, end)?;
        let set_back = SetBack { from: wall_seconds(from), to: wall_seconds(to) };
        (end_local < set_back.from || start_local >= set_back.to).then_some(set_back)
    }
}

/// The columns that lists filter by, in addition to status and words.
#[derive(Clone, Debug, Default, QueryableByName)]
pub struct Columns {
    #[diesel(sql_type = BigInt)]
    pub author_id: i64,
    #[diesel(sql_type = BigInt)]
    pub start_local: i64,
    #[diesel(sql_type = BigInt)]
    pub end_local: i64,
    #[diesel(sql_type = BigInt)]
    pub start_utc: i64,
    #[diesel(sql_type = BigInt)]
    pub end_utc: i64,
    #[diesel(sql_type = BigInt)]
    pub published_utc: i64,
    #[diesel(sql_type = Bool)]
    pub listed: bool,
    #[diesel(sql_type = Bool)]
    pub featured: bool,
}

/// A change of an event.
#[derive(QueryableByName)]
pub struct Change {
    #[diesel(sql_type = BigInt)]
    pub event_id: i64,
    /// The searched text before the change, if it changed.
    #[diesel(sql_type = Nullable<Text>)]
    pub was: Option<String>,
}

/// Reads the zone only if its offset is smaller at the end than at the start, or the event lasts a
/// month.
const ENTRY: &str = "select id, author_id, status, start_local, end_local, start_utc, end_utc, \
     published_utc, listed, featured, search_ci, \
     case when start_local - start_utc > end_local - end_utc or is_long = 1 then timezone end \
     as set_back_zone from events where id ";

/// The last id of a chunk, and the size of its searched texts.
#[derive(QueryableByName)]
struct ChunkRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    last: Option<i64>,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// Returns the last id of the next chunk, which is limited in events and in bytes of text.
fn chunk_end(db: &mut Db, after: i64) -> Result<Option<i64>, DatabaseError> {
    let mut events = CHUNK;
    loop {
        let text = "select max(id) as last, coalesce(cast(sum(n) as bigint), 0) as bytes from \
             (select id, octet_length(search_ci) as n from events where id > ";
        let mut sql = Sql::new(db, text);
        sql.value(after).push(" order by id limit ").value(events).push(") x");
        let chunk = sql.load::<ChunkRow>(db)?.into_iter().next();
        match chunk {
            Some(chunk) if chunk.bytes > CHUNK_BYTES && events > 1 => events /= 2,
            chunk => return Ok(chunk.and_then(|chunk| chunk.last)),
        }
    }
}

/// Reads all events by id, in chunks.
pub fn each(db: &mut Db, mut take: impl FnMut(Vec<Entry>)) -> Result<(), DatabaseError> {
    let mut last = i64::MIN;
    while let Some(end) = chunk_end(db, last)? {
        let mut sql = Sql::new(db, ENTRY);
        sql.push("> ").value(last).push(" and id <= ").value(end).push(" order by id");
        take(sql.load(db)?);
        last = end;
    }
    Ok(())
}

/// Returns the total size of the searched texts of events, in bytes.
pub fn text_bytes(db: &mut Db, ids: &[i64]) -> Result<i64, DatabaseError> {
    let mut bytes = 0;
    for ids in ids.chunks(usize::try_from(CHUNK).unwrap_or(1)) {
        let text = "select coalesce(cast(sum(octet_length(search_ci)) as bigint), 0) as n \
             from events where id ";
        let mut sql = Sql::new(db, text);
        sql.among(ids);
        bytes += sql.number(db)?;
    }
    Ok(bytes)
}

/// Reads events by id.
pub fn by_ids(db: &mut Db, ids: &[i64]) -> Result<Vec<Entry>, DatabaseError> {
    let mut all = Vec::new();
    for ids in ids.chunks(usize::try_from(CHUNK).unwrap_or(1)) {
        let mut sql = Sql::new(db, ENTRY);
        sql.among(ids);
        all.extend(sql.load::<Entry>(db)?);
    }
    Ok(all)
}

/// Returns the number of the last change; 0 before the first.
pub fn latest(db: &mut Db) -> Result<i64, DatabaseError> {
    Sql::new(db, "select coalesce(max(seq), 0) as n from event_changes").number(db)
}

/// Returns the number of the oldest change in the log; 0 if it is empty.
pub fn oldest(db: &mut Db) -> Result<i64, DatabaseError> {
    Sql::new(db, "select coalesce(min(seq), 0) as n from event_changes").number(db)
}

/// Reads the changes after one number up to another, in order.
pub fn between(db: &mut Db, after: i64, until: i64) -> Result<Vec<Change>, DatabaseError> {
    let mut sql = Sql::new(db, "select event_id, was from event_changes where seq > ");
    sql.value(after).push(" and seq <= ").value(until).push(" order by seq");
    sql.load(db)
}

/// Logs a change in the transaction that makes it. `was` is the searched text before.
pub fn log_change(db: &mut Db, event: i64, was: Option<&str>) -> Result<(), DatabaseError> {
    let before =
        "select coalesce((select bytes from event_changes order by seq desc limit 1), 0) as n";
    let before = Sql::new(db, before).number(db)?;
    let length = was.map_or(0, |was| i64::try_from(was.len()).unwrap_or(i64::MAX));
    let bytes = before.saturating_add(length);
    let mut sql = Sql::new(db, "insert into event_changes (event_id, bytes, was) values (");
    sql.value(event).push(", ").value(bytes).push(", ");
    match was {
        Some(was) => sql.bind(was),
        None => sql.push("null"),
    };
    sql.push(")");
    sql.execute(db)?;
    match before / PRUNED_EVERY == bytes / PRUNED_EVERY {
        true => Ok(()),
        false => prune(db),
    }
}

/// Deletes all but the last changes.
pub fn prune(db: &mut Db) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "delete from event_changes where seq <= ");
    sql.push("(select max(seq) from event_changes) - ").value(KEPT);
    sql.push(" or bytes <= (select max(bytes) from event_changes) - ").value(KEPT_BYTES);
    sql.execute(db).map(drop)
}

#[cfg(test)]
mod tests {
    use testkit::Database;

    use super::*;
    use crate::model::event::{Event, Links};
    use crate::model::role::Role;
    use crate::model::schedule::Schedule;
    use crate::model::zone::Zone;
    use crate::store::{MIGRATIONS, events, users};

    #[test]
    fn long_texts_are_read_in_small_chunks() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let zone = Zone::utc();
        let (start_local, end_local, start_utc, end_utc) = (0, 0, 0, 0);
        let schedule =
            Schedule { zone, all_day: false, start_local, end_local, start_utc, end_utc };
        let lengths = pools.write_blocking(|db| {
            let author = users::add(db, "ann", "Ann", Role::Editor)?;
            for number in 0..24 {
                let mut event = Event::draft(author, schedule.clone(), 0, 0);
                event.id = events::allocate(db)?;
                event.slug = number.to_string();
                event.excerpt = "a ".repeat(if number == 7 { 5 << 20 } else { 1 << 19 });
                events::insert(db, &event, &Links::default())?;
            }
            let mut lengths = Vec::new();
            each(db, |piece| {
                let bytes: usize = piece.iter().map(|entry| entry.search_ci.len()).sum();
                lengths.push((piece.len(), bytes));
            })?;
            Ok::<_, DatabaseError>(lengths)
        });
        let lengths = lengths.unwrap();
        assert_eq!(lengths.iter().map(|(events, _)| events).sum::<usize>(), 24);
        let most = usize::try_from(CHUNK_BYTES).unwrap();
        assert!(
            lengths.iter().all(|(events, bytes)| *events == 1 || *bytes <= most),
            "{lengths:?}"
        );
    }
}
