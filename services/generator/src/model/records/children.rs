//! Child tables (`childrenOf`), whose rows belong to rows of a parent table.

use serde_json::Value;

use super::fault::Faults;
use super::field::{FieldKey, Row};
use super::known::Families;
use super::members::Members;

/// Number of parents per block. To find a parent's children, we only have to generate the counts
/// within its block.
const BLOCK: u64 = 256;
/// The size of the position range, which the weights divide up.
const RANGE: u64 = 1 << 32;
/// The distance between the positions of consecutive parents. It is the range divided by the golden
/// ratio, which spreads the positions evenly over any run of parents. Since the number is odd,
/// every position occurs once before any of them repeats.
const STEP: u32 = 0x9E37_79B9;
/// Maximum number of children per parent.
const MOST: i64 = 10_000;

/// The `childrenOf` member of a table.
pub struct RawChildren<'a> {
    /// JSON pointer to the member.
    pub pointer: String,
    /// The name of the parent table.
    pub table: &'a str,
    least: u64,
    /// For each number of children except the maximum, the end of its position range. A number with
    /// weight 0 has an empty range.
    ends: Vec<u64>,
}

impl<'a> RawChildren<'a> {
    /// Returns a substitute for an invalid `childrenOf`, with one child per parent. This lets us
    /// find further errors in the same table.
    fn unread(pointer: String, table: &'a str) -> Self {
        Self { pointer, table, least: 1, ends: Vec::new() }
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
    let mut sum = 0.0;
    let ends = weights[..count - 1].iter().map(|weight| {
        sum += weight;
        (sum / total * RANGE as f64).round() as u64
    });
    let ends = ends.collect();
    Some(RawChildren { pointer, table: table?, least: least.unsigned_abs(), ends })
}

/// Assigns the rows of a table to their parents.
///
/// Each parent has a position, and the weights map positions to numbers of children. Since the
/// positions are an arithmetic sequence, we can count the children of any number of parents without
/// a loop over the parents. Within a block, the numbers are then shuffled.
pub struct Children {
    /// Index of the parent table.
    pub table: usize,
    key: FieldKey,
    parents: u64,
    rows: u64,
    least: u64,
    ends: Vec<u64>,
    /// Position of the first parent.
    start: u32,
    /// Total number of children if every position has one parent.
    total: u64,
    /// Index into [`Row::families`].
    slot: usize,
}

impl Children {
    /// Creates the children, given the parent table's index and row count.
    pub fn new(
        raw: RawChildren<'_>,
        (table, parents): (usize, u64),
        key: FieldKey,
        slot: usize,
    ) -> Self {
        let RawChildren { least, ends, .. } = raw;
        let total = least * RANGE + ends.iter().map(|end| RANGE - end).sum::<u64>();
        let start = key.random(u64::MAX).bits() as u32;
        let mut children =
            Self { table, key, parents, rows: u64::MAX, least, ends, start, total, slot };
        children.rows = children.sum(parents);
        children
    }

    /// Returns the maximum number of children per parent.
    pub fn most(&self) -> u64 {
        self.least + self.ends.len() as u64
    }

    /// Returns the row count of the child table.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the total number of children of the first `parents` parents.
    pub fn of_first(&self, parents: u64) -> u64 {
        if parents >= self.parents { self.rows } else { self.sum(parents) }
    }

    fn sum(&self, parents: u64) -> u64 {
        let block = parents / BLOCK;
        let Some(last) = (parents % BLOCK).checked_sub(1) else { return self.before(block) };
        let mut ends = Vec::new();
        self.fill(block, &mut ends);
        self.before(block).saturating_add(ends[last as usize])
    }

    /// Returns the parent's row number for the row `child`.
    pub fn parent(&self, child: u64, row: &mut Row) -> u64 {
        // The indexes of array items can exceed the number of rows.
        let Some(last) = self.rows.checked_sub(1) else { return 0 };
        let child = child.min(last);
        if row.families.len() <= self.slot {
            row.families.resize_with(self.slot + 1, Families::default);
        }
        let families = &mut row.families[self.slot];
        let mut known = families.number;
        if let Some(block) = known
            && child >= families.end()
        {
            // Rows are usually generated in order, so try the next block first.
            families.start = families.end();
            self.fill(block + 1, &mut families.ends);
            known = Some(block + 1);
        }
        let is_inside = (families.start..families.end()).contains(&child);
        let block = match known.filter(|_| is_inside) {
            Some(block) => block,
            None => {
                let block = self.block(child);
                families.start = self.before(block);
                self.fill(block, &mut families.ends);
                block
            }
        };
        families.number = Some(block);
        let nth = child - families.start;
        block * BLOCK + families.ends.partition_point(|end| *end <= nth) as u64
    }

    /// Returns the block that contains the parent of `child`.
    fn block(&self, child: u64) -> u64 {
        // Estimate the block from the average, double the range until it contains the block, and
        // then use binary search.
        let near = u128::from(child) * u128::from(RANGE) / u128::from(self.total.max(1));
        let mut low = u64::try_from(near).unwrap_or(u64::MAX) / BLOCK;
        let (mut high, mut width) = (low + 1, 1);
        while low > 0 && self.before(low) > child {
            (low, high, width) = (low.saturating_sub(width), low, width * 2);
        }
        while self.before(high) <= child {
            (low, high, width) = (high, high.saturating_add(width), width * 2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.before(middle) > child {
                true => high = middle,
                false => low = middle,
            }
        }
        low
    }

    /// Returns the total number of children of all parents before `block`.
    fn before(&self, block: u64) -> u64 {
        let parents = block.saturating_mul(BLOCK);
        let (rounds, parents) = (parents / RANGE, parents % RANGE);
        let wraps =
            |shift: u64| floor_sum(parents, RANGE, u64::from(STEP), u64::from(self.start) + shift);
        // A parent has one additional child for each end at or below its position. To count such
        // parents, shift all positions by `RANGE - end`, and count how many more of them overflow.
        let least = wraps(0);
        let more: u64 = self.ends.iter().map(|end| wraps(RANGE - end) - least).sum();
        rounds
            .saturating_mul(self.total)
            .saturating_add(parents.saturating_mul(self.least))
            .saturating_add(more)
    }

    /// Stores the running total of children for each parent in a block in `ends`. In the last
    /// block, this includes parents after the end of their table.
    fn fill(&self, block: u64, ends: &mut Vec<u64>) {
        let mut random = self.key.random(block);
        ends.clear();
        ends.extend((0..BLOCK).map(|nth| self.count(block * BLOCK + nth)));
        for last in (1..ends.len()).rev() {
            ends.swap(last, random.index(last + 1));
        }
        let mut end = 0;
        for count in ends {
            end += *count;
            *count = end;
        }
    }

    /// Returns the number of children for the position of `parent`, before shuffling.
    fn count(&self, parent: u64) -> u64 {
        // Both parents and positions wrap around at the end of the range, so truncating is correct.
        let position = self.start.wrapping_add((parent as u32).wrapping_mul(STEP));
        self.least + self.ends.partition_point(|end| *end <= u64::from(position)) as u64
    }
}

/// Returns the sum of `(step * n + start) / modulus`, each rounded down, over all `n` below
/// `count`. Each round reduces the problem to one with a smaller modulus, as in Euclid's algorithm.
///
/// The sum and `step * count` must be below 2^64.
fn floor_sum(mut count: u64, mut modulus: u64, mut step: u64, mut start: u64) -> u64 {
    let mut sum = 0;
    loop {
        sum += count * count.saturating_sub(1) / 2 * (step / modulus);
        sum += count * (start / modulus);
        let last = (step % modulus) * count + start % modulus;
        if last < modulus {
            return sum;
        }
        (count, start) = (last / modulus, last % modulus);
        (modulus, step) = (step % modulus, modulus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Seed;
    use crate::model::random::Random;

    fn children(least: u64, weights: &[f64], parents: u64) -> Children {
        let (mut sum, total) = (0.0, weights.iter().sum::<f64>());
        let ends = weights[..weights.len() - 1].iter().map(|weight| {
            sum += weight;
            (sum / total * RANGE as f64).round() as u64
        });
        let raw = RawChildren { pointer: String::new(), table: "p", least, ends: ends.collect() };
        let key = FieldKey::new(&Seed::parse("demo").unwrap(), "c", "");
        Children::new(raw, (0, parents), key, 0)
    }

    #[test]
    fn sums_of_quotients_equal_those_added_one_by_one() {
        let mut random = Random::of_row([1, 2], 3);
        for _ in 0..500 {
            let [count, modulus, step, start] =
                [40, 1 << 32, 1 << 32, 1 << 33].map(|bound| 1 + random.below(bound));
            let sum = (0..count).map(|n| (step * n + start) / modulus).sum::<u64>();
            assert_eq!(floor_sum(count, modulus, step, start), sum, "{count} {modulus} {step}");
        }
        assert_eq!(floor_sum(0, 7, 3, 20), 0);
    }

    #[test]
    fn blocks_start_after_the_children_of_all_parents_before() {
        for (least, weights) in [
            (0, vec![1.0, 0.0, 1.0]),
            (3, vec![0.3]),
            (1, vec![0.0, 2.0, 0.5, 0.0]),
            (0, vec![1.0]),
        ] {
            let children = children(least, &weights, 5_000);
            let mut ends = Vec::new();
            let mut sum = 0;
            for block in 0..20 {
                assert_eq!(children.before(block), sum, "{weights:?} {block}");
                children.fill(block, &mut ends);
                sum += ends.last().unwrap();
            }
            assert_eq!(children.of_first(9_999), children.rows());
            assert!(children.rows() <= sum);
        }
    }

    #[test]
    fn children_are_found_far_from_the_start_and_between_parents_without_any() {
        // One parent of 100,000 has a child.
        for weights in [vec![99_999.0, 1.0], vec![1.0, 0.0, 1.0, 1.0]] {
            let children = children(0, &weights, 1 << 40);
            let rows = children.rows();
            for child in [0, 1, rows / 3, rows - 1] {
                let parent = children.parent(child, &mut Row::default());
                let before = children.of_first(parent);
                assert!(before <= child && child < children.of_first(parent + 1), "{child}");
            }
        }
    }

    #[test]
    fn counts_have_the_shares_of_their_weights_and_never_weight_zero() {
        let weights = [1.0, 0.0, 0.0, 0.0, 2.0];
        let children = children(1, &weights, 1_000);
        let mut row = Row::default();
        let mut counts = vec![0_u64; 1_000];
        for child in 0..children.rows() {
            counts[children.parent(child, &mut row) as usize] += 1;
            assert_eq!(
                children.parent(child, &mut Row::default()),
                children.parent(child, &mut row)
            );
        }
        let fives = counts.iter().filter(|count| **count == 5).count();
        assert!(counts.iter().all(|count| *count == 1 || *count == 5));
        // Four standard deviations of a binomial distribution.
        assert!(fives.abs_diff(667) < 60, "{fives}");
    }
}
