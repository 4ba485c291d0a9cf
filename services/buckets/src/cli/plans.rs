//! Adds this service's columns to the `plans` command.

use auth::PlanColumns;
use database::Db;
use serde_json::{Value, json};

use crate::model::package::Package;
use crate::store::packages;

/// Flags of `plans set` in addition to the common ones.
#[derive(clap::Args, Clone, Debug)]
pub struct PackageFlags {
    /// Number of results reachable with offset paging, 0 to 1000000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    depth: Option<u64>,
    /// Allow scrolling
    #[arg(long, value_name = "BOOLEAN")]
    scrolling: Option<bool>,
    /// Allow sorting files
    #[arg(long, value_name = "BOOLEAN")]
    sorting: Option<bool>,
    /// Allow regular expressions
    #[arg(long, value_name = "BOOLEAN")]
    regexp: Option<bool>,
    /// Allow filtering by excluded buckets, size and date
    #[arg(long, value_name = "BOOLEAN")]
    filters: Option<bool>,
    /// Days after its first load until a bucket becomes searchable, 0 to 36500
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=36_500))]
    delay_days: Option<i64>,
    /// Maximum number of files per CSV or NDJSON download, 0 to 1000000; 0 disables downloads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    download_files: Option<u64>,
    /// Maximum number of crawls per key, 0 to 1000; 0 disables crawls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000))]
    crawls: Option<u64>,
    /// Maximum number of alerts per key, 0 to 10000; 0 disables alerts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=10_000))]
    alerts: Option<u64>,
    /// Let keys see the crawls of the operator and of all keys
    #[arg(long, value_name = "BOOLEAN")]
    all_crawls: Option<bool>,
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
            all_crawls: flags.all_crawls.unwrap_or(old.all_crawls),
            code: old.code,
            hidden: old.hidden,
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
            ("all_crawls", json!(package.all_crawls)),
        ])
    }
}
