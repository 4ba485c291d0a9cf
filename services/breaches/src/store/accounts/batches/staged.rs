//! Links accounts on a distributed database.
//!
//! The rows of a transaction are copied to the table `staged`, which is sharded just like the
//! accounts. The statements that follow join these two tables, so each server can process its own
//! rows. We don't rely on the row counts that Citus reports but count new links before writing
//! them.

use database::DatabaseError;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer, Text};

use super::changes::{Linked, Stored, changes};
use crate::store::accounts::new_account::{NewAccount, NewLink};
use crate::store::accounts::routed::one_key;
use crate::store::schema::{account, staged};
use crate::store::shard;

/// If there are at most this many shards, statements list them so that the other servers aren't
/// queried.
const FEW_SHARDS: usize = 16;

/// Joins staged rows with accounts that have the same key.
const JOINED: &str = "JOIN account a ON a.shard = s.shard AND a.k = s.k";
/// True if the joined account's address matches the staged row's.
const SAME: &str = "a.domain_id = s.domain_id AND a.local = s.local";

#[derive(Insertable)]
#[diesel(table_name = staged, treat_none_as_default_value = false)]
struct Row<'a> {
    k: i64,
    shard: i16,
    domain_id: i32,
    local: &'a str,
    breaches: &'a [u8],
    other_id: i64,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Summary {
    #[diesel(sql_type = BigInt)]
    staged: i64,
    #[diesel(sql_type = BigInt)]
    added: i64,
    #[diesel(sql_type = BigInt)]
    others: i64,
}

#[derive(QueryableByName)]
struct Added {
    #[diesel(sql_type = Binary)]
    id: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Key {
    #[diesel(sql_type = BigInt)]
    k: i64,
}

/// A link from an account to a paste.
#[derive(Debug, QueryableByName)]
pub struct PasteLink {
    /// Account key.
    #[diesel(sql_type = BigInt)]
    pub k: i64,
    #[diesel(sql_type = Integer)]
    pub domain_id: i32,
    /// The account's local part as stored.
    #[diesel(sql_type = Text)]
    pub local: String,
    /// Paste row id.
    #[diesel(sql_type = BigInt)]
    pub paste: i64,
}

/// The staged rows. Only one transaction may stage rows at a time; see `versions::lock_accounts`.
struct Stage {
    /// SQL condition that restricts a statement to the rows' shards, or `true` for all shards.
    place: String,
    /// Whether `place` lists shards.
    is_narrow: bool,
}

impl Stage {
    /// Copies rows to the staging table. They must be sorted by key. Also returns the number of
    /// rows.
    fn fill<'a>(
        conn: &mut PgConnection,
        rows: impl Iterator<Item = NewLink<'a>>,
    ) -> Result<(Self, i64), DatabaseError> {
        let (mut shards, mut copied) = (Vec::new(), Vec::new());
        for NewLink { account, other_id } in rows {
            let NewAccount { k, domain_id, local, breaches } = account;
            let shard = shard::of_key(k);
            if shards.last() != Some(&shard) {
                shards.push(shard);
            }
            copied.push(Row { k, shard, domain_id, local, breaches, other_id });
        }
        let number = i64::try_from(copied.len()).map_err(DatabaseError::broken)?;
        diesel::copy_from(staged::table).from_insertable(copied).execute(conn)?;
        shards.sort_unstable();
        shards.dedup();
        let is_narrow = shards.len() <= FEW_SHARDS;
        let list: Vec<String> = shards.iter().map(ToString::to_string).collect();
        let place =
            if is_narrow { format!("s.shard IN ({})", list.join(", ")) } else { "true".to_owned() };
        Ok((Self { place, is_narrow }, number))
    }

    /// Deletes the staged rows.
    fn clear(self, conn: &mut PgConnection) -> Result<(), DatabaseError> {
        let Self { place, is_narrow } = self;
        // Truncating all shards costs about as much as deleting 50,000 rows.
        let statement = match is_narrow {
            true => format!("DELETE FROM staged s WHERE {place}"),
            false => "TRUNCATE staged".to_owned(),
        };
        diesel::sql_query(statement).execute(conn)?;
        Ok(())
    }
}

fn expect_all(staged: i64, wanted: i64) -> Result<(), DatabaseError> {
    if staged == wanted {
        return Ok(());
    }
    Err(DatabaseError::broken(format!("{staged} of {wanted} rows were staged")))
}

/// Links accounts, which must be sorted by key, and adds the new links to `linked`. Accounts with
/// an empty list are just inserted.
pub fn link(
    conn: &mut PgConnection,
    accounts: &[NewAccount<'_>],
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    let Some(first) = accounts.first() else { return Ok(()) };
    // If two addresses share a key, the first one must be stored before the second is looked up.
    let mut singles = Vec::new();
    let distinct: Vec<NewAccount<'_>> = accounts
        .chunk_by(|a, b| a.k == b.k)
        .filter_map(|same| {
            let (first, others) = same.split_first()?;
            singles.extend_from_slice(others);
            Some(*first)
        })
        .collect();
    let rows = distinct.iter().map(|account| NewLink { account: *account, other_id: 0 });
    let (stage, number) = Stage::fill(conn, rows)?;
    let same_list = distinct.iter().all(|account| account.breaches == first.breaches);
    let list = (same_list && first.breaches.len() == 2).then_some(first.breaches);
    let has_no_links = same_list && first.breaches.is_empty();
    let others = count(conn, &stage, number, list, has_no_links, linked)?;
    // With a single id there's no need to compare lists.
    let lacks = match list {
        Some(_) => "breach_place(account.breaches, excluded.breaches) = 0",
        None => "breach_union(account.breaches, excluded.breaches) <> account.breaches",
    };
    diesel::sql_query(format!(
        "INSERT INTO account (k, seq, shard, domain_id, local, breaches) \
         SELECT k, 0, shard, domain_id, local, breaches FROM staged s WHERE {} \
         ON CONFLICT (k, seq, shard) \
         DO UPDATE SET breaches = breach_union(account.breaches, excluded.breaches) \
         WHERE account.domain_id = excluded.domain_id AND account.local = excluded.local AND {lacks}",
        stage.place
    ))
    .execute(conn)?;
    if others > 0 {
        let keys: Vec<Key> = diesel::sql_query(format!(
            "SELECT s.k FROM staged s {JOINED} WHERE {} AND a.seq = 0 AND NOT ({SAME})",
            stage.place
        ))
        .load(conn)?;
        let has = |k| keys.iter().any(|key| key.k == k);
        singles.extend(distinct.iter().filter(|account| has(account.k)));
    }
    stage.clear(conn)?;
    singles.into_iter().try_for_each(|account| link_one(conn, account, linked))
}

/// Counts new links of the staged accounts in `linked`. Accounts whose key already belongs to
/// another address aren't counted; returns how many there are.
fn count(
    conn: &mut PgConnection,
    stage: &Stage,
    number: i64,
    list: Option<&[u8]>,
    has_no_links: bool,
    linked: &mut Linked,
) -> Result<i64, DatabaseError> {
    let summary: Summary = diesel::sql_query(format!(
        "SELECT count(*) AS staged, \
         count(*) FILTER (WHERE a.k IS NULL OR {SAME} AND breach_place(a.breaches, s.breaches) = 0) AS added, \
         count(*) FILTER (WHERE a.k IS NOT NULL AND NOT ({SAME})) AS others \
         FROM staged s LEFT {JOINED} AND a.seq = 0 WHERE {}",
        stage.place
    ))
    .get_result(conn)?;
    expect_all(summary.staged, number)?;
    if let Some(list) = list {
        linked.count(list, summary.added);
        return Ok(summary.others);
    }
    if has_no_links {
        return Ok(summary.others);
    }
    let added: Vec<Added> = diesel::sql_query(format!(
        "SELECT id, count(*) AS number FROM ( \
           SELECT substring(s.breaches FROM place FOR 2) AS id, a.breaches AS stored \
           FROM staged s LEFT {JOINED} AND a.seq = 0, \
           generate_series(1, length(s.breaches) - 1, 2) AS place \
           WHERE {} AND (a.k IS NULL OR {SAME}) \
         ) AS wanted WHERE stored IS NULL OR breach_place(stored, id) = 0 GROUP BY id",
        stage.place
    ))
    .load(conn)?;
    for Added { id, number } in added {
        linked.count(&id, number);
    }
    Ok(summary.others)
}

/// Links an account whose key already belongs to another address.
fn link_one(
    conn: &mut PgConnection,
    new: NewAccount<'_>,
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    let stored: Vec<Stored> = one_key(new.k)
        .order(account::seq)
        .select((account::k, account::seq, account::domain_id, account::local, account::breaches))
        .load(conn)?;
    for change in changes(&[new], &stored, linked) {
        let at = shard::key_is::<account::table>(new.k).and(account::seq.eq(change.seq));
        if change.exists {
            diesel::update(account::table.filter(at))
                .set(account::breaches.eq(&*change.list))
                .execute(conn)?;
        } else {
            let row = (
                account::k.eq(new.k),
                account::seq.eq(change.seq),
                account::shard.eq(shard::of_key(new.k)),
                account::domain_id.eq(new.domain_id),
                account::local.eq(new.local),
                account::breaches.eq(&*change.list),
            );
            diesel::insert_into(account::table).values(row).execute(conn)?;
        }
    }
    Ok(())
}

/// Adds websites to stored accounts, sorted by key. Returns the number of new entries.
pub fn add_pairs(
    conn: &mut PgConnection,
    rows: &[NewLink<'_>],
    breach: u16,
) -> Result<i64, DatabaseError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let (stage, number) = Stage::fill(conn, rows.iter().copied())?;
    let counted: Summary = diesel::sql_query(format!(
        "SELECT count(*) AS staged, count(a.k) FILTER (WHERE p.k IS NULL) AS added, 0::BIGINT AS others \
         FROM staged s LEFT {JOINED} AND {SAME} \
         LEFT JOIN stealer_log p ON p.shard = s.shard AND p.k = s.k AND p.seq = a.seq \
         AND p.website_id = s.other_id AND p.breach_id = {breach} WHERE {}",
        stage.place
    ))
    .get_result(conn)?;
    expect_all(counted.staged, number)?;
    diesel::sql_query(format!(
        "INSERT INTO stealer_log (k, seq, shard, website_id, breach_id) \
         SELECT s.k, a.seq, s.shard, s.other_id::INTEGER, {breach} FROM staged s {JOINED} AND {SAME} \
         WHERE {} ON CONFLICT DO NOTHING",
        stage.place
    ))
    .execute(conn)?;
    stage.clear(conn)?;
    Ok(counted.added)
}

/// Links stored accounts, sorted by key, to pastes. Returns the new links.
pub fn add_pastes(
    conn: &mut PgConnection,
    rows: &[NewLink<'_>],
) -> Result<Vec<PasteLink>, DatabaseError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let (stage, number) = Stage::fill(conn, rows.iter().copied())?;
    let staged: Number =
        diesel::sql_query(format!("SELECT count(*) AS number FROM staged s WHERE {}", stage.place))
            .get_result(conn)?;
    expect_all(staged.number, number)?;
    let added = diesel::sql_query(format!(
        "SELECT s.k, s.domain_id, s.local, s.other_id AS paste FROM staged s {JOINED} AND {SAME} \
         LEFT JOIN paste_account p ON p.shard = s.shard AND p.k = s.k AND p.seq = a.seq \
         AND p.paste_id = s.other_id WHERE {} AND p.k IS NULL",
        stage.place
    ))
    .load(conn)?;
    diesel::sql_query(format!(
        "INSERT INTO paste_account (k, seq, shard, paste_id) \
         SELECT s.k, a.seq, s.shard, s.other_id FROM staged s {JOINED} AND {SAME} \
         WHERE {} ON CONFLICT DO NOTHING",
        stage.place
    ))
    .execute(conn)?;
    stage.clear(conn)?;
    Ok(added)
}
