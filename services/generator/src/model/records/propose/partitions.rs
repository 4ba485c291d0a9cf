//! Partitioned PostgreSQL tables.

use super::column::Column;
use super::days::moved;

/// A partition, which holds some of another table's rows.
pub struct Partition {
    pub name: String,
    pub parent: String,
    /// The bounds, in `FOR VALUES` syntax.
    bounds: String,
}

/// Reads `ALTER TABLE … ATTACH PARTITION` and `CREATE TABLE … PARTITION OF`, because the SQL parser
/// doesn't support them.
pub fn attached(statement: &str) -> Option<Partition> {
    let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = match divided(&statement, " ATTACH PARTITION ") {
        Some(parts) => parts,
        None => divided(&statement, " PARTITION OF ")?,
    };
    let values = divided(after, " FOR VALUES ");
    let (first, bounds) = values.or_else(|| divided(after, " DEFAULT"))?;
    // Constraints may follow the name.
    let first = first.split('(').next().unwrap_or_default();
    let last = |name: &str| {
        let word = name.split_whitespace().last()?;
        Some(word.rsplit('.').next()?.trim_matches('"').to_owned())
    };
    let bounds = bounds.trim().to_owned();
    let (name, parent) = match divided(&statement, " ATTACH PARTITION ") {
        Some(_) => (last(first)?, last(before)?),
        None => (last(before)?, last(first)?),
    };
    Some(Partition { name, parent, bounds })
}

/// Splits a statement at the first occurrence of some keywords, given in upper case.
fn divided<'s>(statement: &'s str, words: &str) -> Option<(&'s str, &'s str)> {
    let at = statement.to_ascii_uppercase().find(words)?;
    Some((&statement[..at], &statement[at + words.len()..]))
}

/// Splits off the `PARTITION BY` clause of a statement. Returns the rest of the statement, the
/// partitioning strategy and the first partition column.
pub fn key(statement: &str) -> Option<(&str, &str, String)> {
    const WORDS: &str = "PARTITION BY ";
    let at = statement.to_ascii_uppercase().rfind(WORDS)?;
    let before = statement[..at].trim_end();
    let (way, columns) = statement[at + WORDS.len()..].split_once('(')?;
    let column = columns.split([',', ')']).next()?;
    before.ends_with(')').then(|| (before, way.trim(), column.trim().trim_matches('"').to_owned()))
}

/// Limits the column to values that the partitions accept. Returns false if some rows might not fit
/// into any partition.
pub fn limit(way: &str, column: &mut Column, partitions: &[&Partition]) -> bool {
    if way.eq_ignore_ascii_case("HASH")
        || partitions.iter().any(|partition| partition.bounds.is_empty())
    {
        return true;
    }
    // Everything between quotes.
    let texts = |text: &str| -> Vec<String> {
        text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
    };
    if way.eq_ignore_ascii_case("LIST") {
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
