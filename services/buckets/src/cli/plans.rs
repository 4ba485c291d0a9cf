//! Adds this service's columns to the `plans` command.

use auth::PlanColumns;
use database::Db;
use serde_json::{Value, json};

use crate::model::package::Package;
use crate::store::packages;

/// Flags of `plans set` in addition to the common ones.
#[derive(clap::Args, Clone, Debug)]
pub struct PackageFlags {
    /// Results reachable by offset, at most 1000000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    depth: Option<u64>,
    /// Whether scrolling is allowed
    #[arg(long, value_name = "BOOLEAN")]
    scrolling: Option<bool>,
    /// Whether files can be ordered
    #[arg(long, value_name = "BOOLEAN")]
    sorting: Option<bool>,
    /// Whether regular expressions are allowed
    #[arg(long, value_name = "BOOLEAN")]
    regexp: Option<bool>,
    /// Whether excluded buckets, sizes and dates are allowed
    #[arg(long, value_name = "BOOLEAN")]
    filters: Option<bool>,
    /// Days before a bucket becomes searchable
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=36_500))]
    delay_days: Option<i64>,
    /// Files of a download as CSV or NDJSON, at most 1000000; 0 for no downloads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    download_files: Option<u64>,
    /// Crawls of a key, at most 1000; 0 for none
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000))]
    crawls: Option<u64>,
    /// Alerts of a key, at most 10000; 0 for none
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=10_000))]
    alerts: Option<u64>,
}

/// Reads and writes the package that belongs to a plan.
pub struct Packages;

impl PlanColumns<PackageFlags> for Packages {
    fn set(&self, db: &mut Db, code: &str, flags: &PackageFlags) -> anyhow::Result<()> {
        let old = packages::of_plan(db, code)?;
        let new = Package {
            depth: flags.depth.unwrap_or(old.depth),
            scrolling: flags.scrolling.unwrap_or(old.scrolling),
            sorting: flags.sorting.unwrap_or(old.sorting),
            regexp: flags.regexp.unwrap_or(old.regexp),
            filters: flags.filters.unwrap_or(old.filters),
            delay_days: flags.delay_days.unwrap_or(old.delay_days),
            download_files: flags.download_files.unwrap_or(old.download_files),
            crawls: flags.crawls.unwrap_or(old.crawls),
            alerts: flags.alerts.unwrap_or(old.alerts),
            code: old.code,
        };
        packages::put(db, &new)?;
        Ok(())
    }

    fn show(&self, db: &mut Db, code: &str) -> anyhow::Result<Vec<(&'static str, Value)>> {
        let package = packages::of_plan(db, code)?;
        Ok(vec![
            ("depth", json!(package.depth)),
            ("scrolling", json!(package.scrolling)),
            ("sorting", json!(package.sorting)),
            ("regexp", json!(package.regexp)),
            ("filters", json!(package.filters)),
            ("delay_days", json!(package.delay_days)),
            ("download_files", json!(package.download_files)),
            ("crawls", json!(package.crawls)),
            ("alerts", json!(package.alerts)),
        ])
    }
}
