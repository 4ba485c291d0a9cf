//! Tables whose rows are children of rows in another table.

use serde_json::Value;

use super::fault::Faults;
use super::field::{FieldKey, Row};
use super::known::Families;
use super::members::Members;
use crate::model::random::Random;

/// Number of parents per block. To find the children of a parent, only the counts within its block
/// have to be generated.
const BLOCK: u64 = 256;
/// Means are counted in millionths.
const MILLION: u64 = 1_000_000;
/// Maximum number of children per parent.
const MOST: i64 = 10_000;

/// The `childrenOf` member of a table.
pub struct RawChildren<'a> {
    /// JSON pointer to the member.
    pub pointer: String,
    /// The name of the parent table.
    pub table: &'a str,
    least: u64,
    /// Cumulative weights for each number of children, starting with the minimum.
    sums: Vec<f64>,
    /// Mean number of children, in millionths.
    mean: u64,
}

impl<'a> RawChildren<'a> {
    /// Returns a substitute for a `childrenOf` member with errors, so that errors in its table can
    /// still be found. Each parent has one child.
    fn unread(pointer: String, table: &'a str) -> Self {
        Self { pointer, table, least: 1, sums: vec![1.0], mean: MILLION }
    }
}

/// Reads `childrenOf`: `table`, `min` (0), `max` (5), and either `distribution` (uniform) or
/// `weights` for each possible number of children.
pub fn read<'a>(members: &mut Members<'a>, faults: &mut Faults) -> Option<RawChildren<'a>> {
    let pointer = members.at("childrenOf");
    let value = members.value("childrenOf")?;
    let before = faults.count();
    let mut members = Members::of(value, pointer.clone(), faults)?;
    members.required("table", faults);
    let table = members.text("table", faults);
    let least = members.integer("min", 0, (0, MOST), faults);
    let most = members.integer("max", least.max(5), (0, MOST), faults);
    let is_skewed = members.word("distribution", &[("uniform", false), ("skewed", true)], faults);
    let weights = members.array("weights", faults);
    if least > most {
        faults.add(members.at("max"), "must be at least min");
    }
    let at = members.at("weights");
    members.end("childrenOf", faults);
    if faults.count() > before {
        return table.map(|table| RawChildren::unread(pointer, table));
    }
    let count = (most - least + 1) as usize;
    let is_skewed = is_skewed.unwrap_or_default();
    let weights: Vec<f64> = match weights {
        Some(weights) => weights.iter().filter_map(Value::as_f64).collect(),
        // Without weights, each additional child halves the probability if the distribution is
        // skewed.
        None => {
            (0..count).map(|nth| if is_skewed { 0.5_f64.powi(nth as i32) } else { 1.0 }).collect()
        }
    };
    let total: f64 = weights.iter().sum();
    let is_positive = total > 0.0 && total.is_finite();
    if weights.len() != count || weights.iter().any(|weight| *weight < 0.0) || !is_positive {
        faults.add(
            at,
            format!("must be {count} non-negative numbers, one for each count from min to max"),
        );
    }
    if faults.count() > before {
        return table.map(|table| RawChildren::unread(pointer, table));
    }
    let mean = (least..).zip(&weights).map(|(number, weight)| number as f64 * weight).sum::<f64>();
    let sums = weights
        .iter()
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let (least, most) = (least.unsigned_abs(), most.unsigned_abs());
    // Rounding must not move the mean beyond the bounds, which would make it unreachable.
    let mean =
        ((mean / total * MILLION as f64).round() as u64).clamp(least * MILLION, most * MILLION);
    Some(RawChildren { pointer, table: table?, least, sums, mean })
}

/// Assigns the rows of a table to their parents.
pub struct Children {
    /// Index of the parent table.
    pub table: usize,
    key: FieldKey,
    parents: u64,
    least: u64,
    sums: Vec<f64>,
    mean: u64,
    /// Index into [`Row::families`].
    slot: usize,
}

impl Children {
    /// Creates the children of a parent table, given the index and the row count of that table.
    pub fn new(
        raw: RawChildren<'_>,
        (table, parents): (usize, u64),
        key: FieldKey,
        slot: usize,
    ) -> Self {
        let RawChildren { least, sums, mean, .. } = raw;
        Self { table, key, parents, least, sums, mean, slot }
    }

    /// Returns the total number of children of all parents before `parent`.
    fn before(&self, parent: u64) -> u64 {
        let millionths = u128::from(self.mean) * u128::from(parent);
        u64::try_from(millionths / u128::from(MILLION)).unwrap_or(u64::MAX)
    }

    /// Returns the maximum number of children per parent.
    pub fn most(&self) -> u64 {
        self.least + self.sums.len() as u64 - 1
    }

    /// Returns the row count of the child table.
    pub fn rows(&self) -> u64 {
        self.before(self.parents)
    }

    /// Returns the total number of children of the first `parents` parents.
    pub fn of_first(&self, parents: u64) -> u64 {
        if parents >= self.parents {
            return self.rows();
        }
        let block = parents / BLOCK;
        let mut ends = Vec::new();
        self.fill(block, &mut ends);
        let last = (parents % BLOCK).checked_sub(1).and_then(|last| ends.get(last as usize));
        self.before(block * BLOCK) + last.copied().unwrap_or(0)
    }

    /// Returns the row of the parent of `child`.
    pub fn parent(&self, child: u64, row: &mut Row) -> u64 {
        // The indexes of array items can exceed the number of rows.
        let child = child.min(self.rows().saturating_sub(1));
        let near = u128::from(child) * u128::from(MILLION) / u128::from(self.mean.max(1));
        let mut block = u64::try_from(near).unwrap_or(u64::MAX) / BLOCK;
        while block > 0 && self.before(block * BLOCK) > child {
            block -= 1;
        }
        while self.before((block + 1) * BLOCK) <= child {
            block += 1;
        }
        if row.families.len() <= self.slot {
            row.families.resize_with(self.slot + 1, Families::default);
        }
        let families = &mut row.families[self.slot];
        if families.number != Some(block) {
            families.number = Some(block);
            self.fill(block, &mut families.ends);
        }
        let nth = child - self.before(block * BLOCK);
        block * BLOCK + families.ends.partition_point(|end| *end <= nth) as u64
    }

    /// Generates the number of children for each parent in a block, such that they add up to the
    /// known total. Stores the running totals in `ends`.
    fn fill(&self, block: u64, ends: &mut Vec<u64>) {
        let first = block * BLOCK;
        let last = (first + BLOCK).min(self.parents);
        let wanted = self.before(last) - self.before(first);
        let most = self.most();
        let mut random = self.key.random(block);
        ends.clear();
        ends.extend((first..last).map(|_| self.count(&mut random)));
        let mut sum: u64 = ends.iter().sum();
        // The known total is between the sums of all minimums and all maximums, so there is always
        // a count that can be changed. Every round changes all counts by an equal share, which
        // takes few rounds even if most counts have reached their limit.
        let first = random.index(ends.len().max(1));
        while sum != wanted && !ends.is_empty() {
            let share = (sum.abs_diff(wanted) / ends.len() as u64).max(1);
            for nth in 0..ends.len() {
                let place = (first + nth) % ends.len();
                let count = &mut ends[place];
                let share = share.min(sum.abs_diff(wanted));
                if sum < wanted {
                    let more = share.min(most - *count);
                    (*count, sum) = (*count + more, sum + more);
                } else {
                    let fewer = share.min(*count - self.least);
                    (*count, sum) = (*count - fewer, sum - fewer);
                }
            }
        }
        let mut end = 0;
        for count in ends {
            end += *count;
            *count = end;
        }
    }

    fn count(&self, random: &mut Random) -> u64 {
        let total = self.sums.last().copied().unwrap_or_default();
        let at = random.unit() * total;
        let nth = self.sums.partition_point(|sum| *sum <= at).min(self.sums.len() - 1);
        self.least + nth as u64
    }
}
