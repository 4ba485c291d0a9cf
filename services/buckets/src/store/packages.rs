//! Stores packages, which extend plans.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::package;
use crate::model::package::Package;

type Row = (String, i64, bool, bool, bool, bool, i64, i64, i64, i64, bool);

/// Returns the packages for plans, in the same order. A plan without a package gets the limits of
/// `free`.
pub fn of_plans(db: &mut Db, codes: &[String]) -> Result<Vec<Package>, DatabaseError> {
    let rows: Vec<Row> = package::table.load(db)?;
    let of_plan = |code: &String| {
        let row = rows.iter().find(|row| row.0 == *code).cloned();
        row.map_or_else(|| default_for(code), from_row)
    };
    Ok(codes.iter().map(of_plan).collect())
}

pub fn of_plan(db: &mut Db, code: &str) -> Result<Package, DatabaseError> {
    let row: Option<Row> = package::table.find(code).first(db).optional()?;
    Ok(row.map_or_else(|| default_for(code), from_row))
}

/// Saves a package.
pub fn put(db: &mut Db, new: &Package) -> Result<(), DatabaseError> {
    let values = (
        package::code.eq(&new.code),
        package::depth.eq(i64::try_from(new.depth).unwrap_or(i64::MAX)),
        package::download_files.eq(i64::try_from(new.download_files).unwrap_or(i64::MAX)),
        package::scrolling.eq(new.scrolling),
        package::sorting.eq(new.sorting),
        package::regexp.eq(new.regexp),
        package::filters.eq(new.filters),
        package::delay_days.eq(new.delay_days),
        package::alerts.eq(i64::try_from(new.alerts).unwrap_or(i64::MAX)),
        package::crawls.eq(i64::try_from(new.crawls).unwrap_or(i64::MAX)),
        package::all_crawls.eq(new.all_crawls),
    );
    on_backend!(db, conn => diesel::insert_into(package::table)
        .values(values)
        .on_conflict(package::code)
        .do_update()
        .set(values)
        .execute(conn))?;
    Ok(())
}

fn from_row(row: Row) -> Package {
    let (code, depth, scrolling, sorting, regexp, filters, delay_days, ..) = row;
    let (.., downloads, crawls, alerts, all_crawls) = row;
    let number = |value| u64::try_from(value).unwrap_or(0);
    Package {
        code,
        hidden: false,
        depth: number(depth),
        scrolling,
        sorting,
        regexp,
        filters,
        delay_days,
        download_files: number(downloads),
        crawls: number(crawls),
        alerts: number(alerts),
        all_crawls,
    }
}

fn default_for(code: &str) -> Package {
    let [free, ..] = Package::seeds();
    Package { code: code.to_owned(), ..free }
}
