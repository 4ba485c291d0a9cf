//! Parses partitioned tables, and limits their rows to values that fit in a partition.

use super::column::Column;
use super::days::moved;
use super::qualified::of_text;

/// A partition, which contains some of the rows of another table.
pub struct Partition {
    pub name: String,
    pub parent: String,
    /// The bounds, in `FOR VALUES` syntax.
    bounds: String,
}

/// Parses `ALTER TABLE … ATTACH PARTITION` and `CREATE TABLE … PARTITION OF`, which the SQL parser
/// doesn't support.
pub fn attached(statement: &str) -> Option<Partition> {
    let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    // Inside parentheses, these words could be in a comment or string.
    let outside = |words| divided(&statement, words).filter(|(before, _)| !before.contains('('));
    let attached = outside(" ATTACH PARTITION ");
    let is_attached = attached.is_some();
    let (before, after) = attached.or_else(|| outside(" PARTITION OF "))?;
    let values = divided(after, " FOR VALUES ");
    let (first, bounds) = values.or_else(|| divided(after, " DEFAULT"))?;
    // The name can be followed by constraints.
    let first = first.split('(').next().unwrap_or_default();
    let last = |name: &str| name.split_whitespace().last().map(of_text);
    let bounds = bounds.trim().to_owned();
    let (name, parent) = match is_attached {
        true => (last(first)?, last(before)?),
        false => (last(before)?, last(first)?),
    };
    Some(Partition { name, parent, bounds })
}

/// Splits a statement at the first occurrence of `words`, which must be in upper case.
fn divided<'s>(statement: &'s str, words: &str) -> Option<(&'s str, &'s str)> {
    let at = statement.to_ascii_uppercase().find(words)?;
    Some((&statement[..at], &statement[at + words.len()..]))
}

/// Splits off the `PARTITION BY` clause of a statement. Returns the rest of the statement, the
/// partitioning strategy and the first column of the partition key.
pub fn key(statement: &str) -> Option<(&str, &str, String)> {
    const WORDS: &str = "PARTITION BY ";
    let at = statement.to_ascii_uppercase().rfind(WORDS)?;
    let before = statement[..at].trim_end();
    let (way, columns) = statement[at + WORDS.len()..].split_once('(')?;
    let column = columns.split([',', ')']).next()?;
    // In MySQL, there are table options between the columns and the clause. The words are ignored
    // in comments and strings.
    let (_, options) = before.rsplit_once(')')?;
    let is_inside = ["(", "--", "/*", "#"].iter().any(|mark| options.contains(mark));
    let has_end = |quote: char| options.matches(quote).count().is_multiple_of(2);
    let is_clause = !is_inside
        && (statement[..at].ends_with('\n') || ['\'', '"', '`'].into_iter().all(has_end));
    let column = column.trim().trim_matches(['"', '`']);
    is_clause.then(|| (before, way.trim(), column.to_owned()))
}

/// Limits the column to values that the partitions accept. Returns false if some rows might not
/// belong to any partition.
pub fn limit(way: &str, column: &mut Column, partitions: &[&Partition]) -> bool {
    if way.eq_ignore_ascii_case("HASH")
        || partitions.iter().any(|partition| partition.bounds.is_empty())
    {
        return true;
    }
    // Extracts the quoted strings.
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
