//! Partitioned PostgreSQL tables.

use super::checks::moved;
use super::column::Column;

/// A partition, which holds some of another table's rows.
pub struct Partition {
    pub name: String,
    pub parent: String,
    /// The bounds, in `FOR VALUES` syntax.
    bounds: String,
}

/// Reads `ALTER TABLE … ATTACH PARTITION`, because the SQL parser doesn't support it.
pub fn attached(statement: &str) -> Option<Partition> {
    let (before, after) = statement.split_once(" ATTACH PARTITION ")?;
    let (name, bounds) =
        after.split_once(" FOR VALUES ").or_else(|| after.split_once(" DEFAULT"))?;
    let last = |name: &str| {
        let word = name.split_whitespace().last()?;
        Some(word.rsplit('.').next()?.trim_matches('"').to_owned())
    };
    Some(Partition { name: last(name)?, parent: last(before)?, bounds: bounds.trim().to_owned() })
}

/// Splits off the `PARTITION BY` clause of a statement. Returns the rest of the statement, the
/// partitioning strategy and the first partition column.
pub fn key(statement: &str) -> Option<(&str, &str, String)> {
    let (before, after) = statement.rsplit_once("\nPARTITION BY ")?;
    let (way, columns) = after.split_once('(')?;
    let column = columns.split([',', ')']).next()?;
    Some((before, way.trim(), column.trim().trim_matches('"').to_owned()))
}

/// Limits the column to values that the partitions accept. Returns false if some rows might not fit
/// into any partition.
pub fn limit(way: &str, column: &mut Column, partitions: &[&Partition]) -> bool {
    if way == "HASH" || partitions.iter().any(|partition| partition.bounds.is_empty()) {
        return true;
    }
    // Everything between quotes.
    let texts = |text: &str| -> Vec<String> {
        text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
    };
    if way == "LIST" {
        let values = partitions.iter().flat_map(|partition| texts(&partition.bounds));
        column.choices = values.map(Into::into).collect();
        return !column.choices.is_empty();
    }
    let day = |text: Option<&String>, days| moved(text?.get(..10)?, days);
    let ranges: Vec<_> = partitions.iter().map(|partition| texts(&partition.bounds)).collect();
    let first = ranges.iter().filter_map(|range| day(range.first(), 0)).min();
    let last = ranges.iter().filter_map(|range| day(range.get(1), -1)).max();
    let is_known = first.is_some() && last.is_some();
    column.days = (first, last);
    is_known
}
