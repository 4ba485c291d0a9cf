//! Area codes by town.

use std::sync::OnceLock;

use super::plan::Plan;

/// Country, town, state or province, and the town's area codes.
const TABLE: &str = include_str!("../../../data/areas.tsv");

/// A town with known area codes.
pub(super) struct Area {
    pub(super) town: &'static str,
    pub(super) state: &'static str,
    /// A pattern for national numbers in this town.
    pub(super) pattern: String,
    pub(super) plan: OnceLock<Plan>,
}

/// Returns a region's towns with known area codes.
pub(super) fn of(region: &str) -> Vec<Area> {
    let parse = |row: &'static str| {
        let mut fields = row.split('\t').skip(1);
        let [town, state, codes] = std::array::from_fn(|_| fields.next().unwrap_or_default());
        Area { town, state, pattern: format!(r"(?:{codes})\d+"), plan: OnceLock::new() }
    };
    TABLE.lines().filter(|row| row.split('\t').next() == Some(region)).map(parse).collect()
}
