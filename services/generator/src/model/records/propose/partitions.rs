//! Parses partitioned tables, and limits their rows to values that fit in a partition.

use std::collections::HashMap;

use super::column::Column;
use super::days::moved;
use super::existing::{Existing, named};
use super::qualified::of_text;
use super::ranges::days_until_midnight;

/// A partition, which contains some of the rows of another table.
pub struct Partition {
    pub name: String,
    pub parent: String,
    /// The bounds, in `FOR VALUES` syntax. Empty if it accepts all rows that the others don't.
    bounds: String,
    /// Whether constraints are defined for this partition only.
    has_rules: bool,
}

/// The first value that a partition accepts, and the first value after it. `None` if there is no
/// such bound.
type Range = (Option<String>, Option<String>);

/// Length of a date such as `2024-12-31`.
const DAY: usize = 10;

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
    let (first, bounds) = match values {
        Some(values) => values,
        None => (divided(after, " DEFAULT")?.0, ""),
    };
    // The name may be followed by constraints.
    let has_rules = first.contains('(');
    let first = first.split('(').next().unwrap_or_default();
    let last = |name: &str| name.split_whitespace().last().map(of_text);
    let bounds = bounds.trim().to_owned();
    let (name, parent) = match is_attached {
        true => (last(first)?, last(before)?),
        false => (last(before)?, last(first)?),
    };
    Some(Partition { name, parent, bounds, has_rules })
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

/// Removes the partitions, because their rows belong to the outermost tables, and limits these to
/// values that the partitions accept.
pub fn divide(
    tables: &mut Vec<Existing>,
    partitions: &[Partition],
    keys: &[(String, (&str, String))],
) {
    let form = str::to_ascii_lowercase;
    let parents: HashMap<_, _> =
        partitions.iter().map(|own| (form(&own.name), own.parent.as_str())).collect();
    let (parts, others): (Vec<_>, Vec<_>) = std::mem::take(tables)
        .into_iter()
        .partition(|table| parents.contains_key(&form(&table.name)));
    *tables = others;
    let parts: HashMap<_, _> = parts.iter().map(|part| (form(&part.name), part)).collect();
    let outermost = |name: &str| {
        let mut outer = name.to_owned();
        for _ in partitions {
            let Some(parent) = parents.get(&form(&outer)) else { break };
            outer = (*parent).to_owned();
        }
        outer
    };
    for Partition { name, has_rules, .. } in partitions {
        let Some(table) = named(tables, &outermost(name)) else { continue };
        let part = parts.get(&form(name));
        if *has_rules || part.is_some_and(|part| has_more_rules(part, table)) {
            table.broken.push(format!("the constraints of its partition {name}"));
        }
    }
    for (name, (way, column)) in keys {
        let is_own = |own: &&Partition| own.parent.eq_ignore_ascii_case(name);
        let own: Vec<_> = partitions.iter().filter(is_own).collect();
        let outer = outermost(name);
        let Some(table) = named(tables, &outer) else { continue };
        let is_kept = match outer.eq_ignore_ascii_case(name) {
            true => table.find(column).is_some_and(|column| limit(way, column, &own)),
            // Such a limit only applies to some rows.
            false => accept_all(way, &own),
        };
        if !is_kept {
            table.broken.push(format!("the partitioning by {column}"));
        }
    }
}

/// Returns whether a partition that is also written as a table has constraints that the table it
/// belongs to lacks.
fn has_more_rules(partition: &Existing, whole: &Existing) -> bool {
    let checks: Vec<_> = whole.checks.iter().map(|(check, _)| check.to_string()).collect();
    let is_set_known =
        |set: &Vec<String>| set.is_empty() || *set == whole.key || whole.unique.contains(set);
    let is_known = |own: &Column| {
        let mut columns = whole.columns.iter();
        let same = columns.find(|column| column.name.eq_ignore_ascii_case(&own.name));
        same.is_none_or(|same| (same.required || !own.required) && (same.unique || !own.unique))
    };
    let are_known = partition.checks.iter().all(|(check, _)| checks.contains(&check.to_string()))
        && is_set_known(&partition.key)
        && partition.unique.iter().all(is_set_known)
        && partition.columns.iter().all(is_known);
    !are_known
}

/// Returns whether the partitions accept all values of the key.
fn accept_all(way: &str, partitions: &[&Partition]) -> bool {
    let has_default = partitions.iter().any(|partition| partition.bounds.is_empty());
    // In MySQL, these partitions aren't listed.
    let is_hash = way.eq_ignore_ascii_case("HASH");
    has_default || is_hash && (partitions.is_empty() || have_all_remainders(partitions))
}

/// Returns whether the partitions accept all hash values.
fn have_all_remainders(partitions: &[&Partition]) -> bool {
    let modulus = |partition: &Partition| {
        let words = partition.bounds.split(|letter: char| !letter.is_alphanumeric());
        let mut words = words.skip_while(|word| !word.eq_ignore_ascii_case("MODULUS")).skip(1);
        words.find_map(|word| word.parse::<u32>().ok())
    };
    let shares = partitions.iter().map(|partition| Some(1.0 / f64::from(modulus(partition)?)));
    let sum: Option<f64> = shares.sum();
    sum.is_some_and(|sum| (sum - 1.0).abs() < 1e-6)
}

/// Limits the column to values that the partitions accept. Returns false if some rows might not
/// belong to any partition.
fn limit(way: &str, column: &mut Column, partitions: &[&Partition]) -> bool {
    if accept_all(way, partitions) {
        return true;
    }
    if way.eq_ignore_ascii_case("LIST") {
        // Every second part is inside of quotes.
        let parts = || partitions.iter().map(|partition| partition.bounds.split('\''));
        let is_null = |text: &str| {
            let mut words = text.split(|letter: char| !letter.is_alphanumeric());
            words.any(|word| word.eq_ignore_ascii_case("NULL"))
        };
        column.required |= !parts().any(|parts| parts.step_by(2).any(is_null));
        let values = parts().flat_map(|parts| parts.skip(1).step_by(2));
        column.choices = values.map(Into::into).collect();
        return !column.choices.is_empty();
    }
    if !way.eq_ignore_ascii_case("RANGE") {
        return false;
    }
    let ranges: Option<Vec<_>> = partitions.iter().map(|own| range(&own.bounds)).collect();
    let Some(days) = ranges.and_then(days) else { return false };
    (column.days, column.required) = (days, true);
    true
}

/// Parses the range of the first key column, if its bounds are dates or timestamps.
fn range(bounds: &str) -> Option<Range> {
    let (from, to) = divided(bounds, " TO ")?;
    let edge = |text: &str| {
        let value = text.split('(').nth(1)?.split([',', ')']).next()?.trim();
        let Some(quoted) = value.split('\'').nth(1) else {
            let is_open =
                ["MINVALUE", "MAXVALUE"].iter().any(|word| value.eq_ignore_ascii_case(word));
            return is_open.then_some(None);
        };
        // Midnight in UTC is written as a day.
        let (day, time) = quoted.split_at_checked(DAY)?;
        let is_midnight = !time.contains(|letter: char| matches!(letter, '1'..='9'));
        Some(Some(if is_midnight { day } else { quoted }.to_owned()))
    };
    Some((edge(from)?, edge(to)?))
}

/// Returns the first and the last day of the largest number of successive partitions. `None` if
/// they don't contain a whole day.
fn days(mut ranges: Vec<Range>) -> Option<Range> {
    ranges.sort();
    let mut successive: Vec<(usize, Range)> = Vec::new();
    for (from, to) in ranges {
        match successive.last_mut() {
            Some((number, (_, end))) if end.is_some() && *end == from => {
                (*number, *end) = (*number + 1, to);
            }
            _ => successive.push((1, (from, to))),
        }
    }
    let (_, (from, to)) = successive.into_iter().max_by_key(|(number, _)| *number)?;
    let late = from.as_deref().and_then(|text| text.get(DAY..)).map_or(0, days_until_midnight);
    // A time may be in another zone, so its day isn't used as a whole.
    let day = |edge: Option<String>, [midnight, other]: [i64; 2]| match edge {
        Some(text) if text.len() == DAY => moved(&text, midnight).map(Some),
        Some(text) => moved(text.get(..DAY)?, other).map(Some),
        None => Some(None),
    };
    let (first, last) = (day(from, [0, late])?, day(to, [-1, -2])?);
    let is_empty = first.is_some() && last.is_some() && first > last;
    (!is_empty).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::{attached, days, range};

    #[test]
    fn days_are_those_of_successive_partitions() {
        let cases: [(&[&str], Option<[&str; 2]>); 8] = [
            (&["('2024-01-01') TO ('2024-02-01')"], Some(["2024-01-01", "2024-01-31"])),
            (
                &[
                    "('2024-05-01') TO ('2024-06-01')",
                    "('2024-03-01') TO ('2024-04-01 00:00:00+00')",
                    "('2024-04-01') TO ('2024-05-01')",
                    "('2024-01-01') TO ('2024-02-01')",
                ],
                Some(["2024-03-01", "2024-05-31"]),
            ),
            (&["(MINVALUE) TO ('2024-02-01')"], Some(["", "2024-01-31"])),
            (
                &["(MINVALUE) TO ('2024-02-01')", "('2024-03-01', 5) TO (maxvalue, 7)"],
                Some(["2024-03-01", ""]),
            ),
            (
                &["('2024-01-01 00:00:00-05') TO ('2024-02-01 00:00:00-05')"],
                Some(["2024-01-02", "2024-01-30"]),
            ),
            (&["('2024-01-01 23:00:00-05') TO ('2024-02-01')"], Some(["2024-01-03", "2024-01-31"])),
            (&["('2024-01-01 00:00:00') TO ('2024-01-01 06:00:00')"], None),
            (&["(1) TO (100)"], None),
        ];
        for (bounds, expected) in cases {
            let ranges: Option<Vec<_>> =
                bounds.iter().map(|own| range(&format!("FROM {own}"))).collect();
            let found = ranges.and_then(days);
            let found = found.map(|(first, last)| [first, last].map(Option::unwrap_or_default));
            assert_eq!(found, expected.map(|days| days.map(str::to_owned)), "{bounds:?}");
        }
    }

    #[test]
    fn constraints_of_a_partition_are_not_part_of_its_name() {
        let text = "CREATE TABLE app.m1 PARTITION OF app.m (CHECK (id > 5)) DEFAULT";
        let partition = attached(text).unwrap();
        assert_eq!((&*partition.name, &*partition.parent), ("app.m1", "app.m"));
        assert!(partition.has_rules && partition.bounds.is_empty());
        let text = "ALTER TABLE m ATTACH PARTITION m1 FOR VALUES IN ('a')";
        assert!(!attached(text).unwrap().has_rules);
    }
}
