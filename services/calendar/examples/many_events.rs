//! Fills an empty calendar with events for benchmarks: five years around the present, 500 venues,
//! 1000 categories with two per event, and 0.2 % of the events longer than a month.
//!
//! Usage: `many_events COUNT`, after a first start, with `DATABASE_URL` set.

use anyhow::{Context, bail};
use calendar::{MIGRATIONS, Sql, gather_statistics};
use clap::Parser;
use database::{DatabaseError, DatabaseSettings, Db};
use domain::{Clock, SystemClock};

#[derive(Parser)]
struct Arguments {
    /// Number of events
    count: i64,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// Words of descriptions, each with the percentage of events whose description contains it.
const WORDS: [(&str, i64); 24] = [
    ("music", 90),
    ("from", 85),
    ("with", 95),
    ("your", 60),
    ("friends", 50),
    ("garden", 10),
    ("theatre", 8),
    ("children", 12),
    ("the", 97),
    ("and", 96),
    ("concert", 40),
    ("free", 35),
    ("entry", 70),
    ("tickets", 65),
    ("door", 75),
    ("open", 80),
    ("late", 55),
    ("night", 45),
    ("dance", 30),
    ("food", 72),
    ("drinks", 68),
    ("stage", 62),
    ("guests", 58),
    ("welcome", 92),
];

const VENUES: i64 = 500;
const CATEGORIES: i64 = 1000;
const YEARS: i64 = 5;

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let pools = arguments
        .database
        .open(std::path::Path::new("."), "calendar", &[&auth::MIGRATIONS, &MIGRATIONS])
        .context("DATABASE_URL")?;
    let now = SystemClock.unix();
    let known =
        pools.read_blocking(|db| Sql::new(db, "select count(*) as n from events").number(db))?;
    if known > 0 {
        bail!("the calendar already has events");
    }
    let mut db = pools.connect()?;
    database::transaction(&mut db, |db| fill(db, arguments.count, now))?;
    gather_statistics(&mut db)?;
    Ok(())
}

fn run(db: &mut Db, text: &str) -> Result<(), DatabaseError> {
    Sql::new(db, text).execute(db).map(drop)
}

/// Returns an SQL expression that produces the description of event `i`.
fn description() -> String {
    let words = WORDS.iter().zip(1..).map(|((word, share), place)| {
        // A prime per word, so the words occur independently of each other.
        let mixed = format!("(cast(i as bigint) * 7919 + i / 100 * {}) % 100", 31 + 2 * place);
        format!("case when {mixed} < {share} then '{word} ' else '' end")
    });
    words.collect::<Vec<_>>().join(" || ")
}

fn numbers(count: i64) -> String {
    format!("with recursive n (i) as (select 1 union all select i + 1 from n where i < {count})")
}

fn fill(db: &mut Db, count: i64, now: i64) -> Result<(), DatabaseError> {
    let (yes, no) = match db {
        Db::Sqlite(_) => ("1", "0"),
        Db::Pg(_) => ("true", "false"),
    };
    let first = count + 1;
    let places = numbers(VENUES);
    run(db, &format!("insert into entities (id, kind) {} select i, 1 from n", numbers(count)))?;
    run(db, &format!("insert into entities (id, kind) {places} select {count} + i, 2 from n"))?;
    run(
        db,
        &format!(
            "insert into venues (id, author_id, status, name, name_ci, search_ci, description, excerpt, slug, \
         published_utc, published_local, modified_utc, phone, website, address, city, country, province, state, \
         stateprovince, zip, show_map, show_map_link) {places} select {count} + i, 1, 'publish', 'Venue ' || i, \
         'venue ' || i, 'venue ' || i, '', '', 'venue-' || i, {now}, {now}, {now}, '', '', '', '', '', '', '', '', \
         '', {yes}, {yes} from n"
        ),
    )?;
    run(
        db,
        &format!(
            "insert into terms (id, taxonomy, name, name_ci, search_ci, slug, description, parent_id, count) {} \
         select i, 1, 'Category ' || i, 'category ' || i, 'category ' || i, 'category-' || i, '', 0, 0 from n",
            numbers(CATEGORIES)
        ),
    )?;
    // Multiplying by a prime spreads the numbers over their range without early repetition.
    let span = YEARS * 365 * 24 * 4;
    let start = format!("({now} / 900 - {span} / 2 + (cast(i as bigint) * 104729) % {span}) * 900");
    let length = "(case when i % 500 = 0 then 45 * 86400 else 3600 + i % 8 * 1800 end)";
    let description = description();
    let line = match db {
        Db::Sqlite(_) => "char(10)",
        Db::Pg(_) => "chr(10)",
    };
    // One percent of the events is featured.
    let featured = "i % 100 = 0";
    run(
        db,
        &format!(
            "insert into events (id, author_id, status, title, description, excerpt, slug, published_utc, \
         published_local, modified_utc, start_local, end_local, start_utc, end_utc, timezone, all_day, cost, website, \
         show_map, show_map_link, listed, sticky, featured, sequence, search_ci, pub, is_long) {} select i, 1, \
         'publish', 'Evening ' || (i % 997) || ' with guest' || (i % 50021), {description}, '', \
         'evening-' || i, {now} - i % 86400, {now} - i % 86400, {now}, {start}, {start} + {length}, {start}, \
         {start} + {length}, 'UTC', {no}, '[\"15\"]', '', {no}, {no}, {yes}, {no}, {featured}, 0, \
         'evening ' || (i % 997) || ' with guest' || (i % 50021) || {line} || {line} || {description}, 1, \
         case when i % 500 = 0 then 1 else 0 end from n",
            numbers(count)
        ),
    )?;
    let copies = "e.start_utc from events e";
    let into =
        |table: &str| format!("insert into {table} (event_id, other_id, position, start_utc)");
    run(
        db,
        &format!("{} select e.id, {first} + e.id % {VENUES}, 0, {copies}", into("event_venues")),
    )?;
    for (position, shift) in [(0, "e.id"), (1, "e.id / 7 + 501")] {
        let one = format!("1 + ({shift}) % {CATEGORIES}");
        let not_twice = format!(" where {position} = 0 or {one} <> 1 + e.id % {CATEGORIES}");
        run(
            db,
            &format!("{} select e.id, {one}, {position}, {copies}{not_twice}", into("event_terms")),
        )?;
    }
    run(
        db,
        "update terms set count = (select count(*) from event_terms l where l.other_id = terms.id)",
    )?;
    if matches!(db, Db::Pg(_)) {
        for table in ["entities", "terms"] {
            Sql::new(db, &format!("select setval(pg_get_serial_sequence('{table}', 'id'), max(id)) as n from {table}"))
                .number(db)?;
        }
    }
    Ok(())
}
