//! Numbers, booleans and sequences.

use std::f64::consts::TAU;

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::fault::Faults;
use crate::model::records::field::{Make, Row};
use crate::model::records::members::Members;

/// The largest integer that every JSON parser represents exactly.
const LARGEST: i64 = (1 << 53) - 1;
/// Maximum number of decimals.
const DECIMALS: i64 = 9;
/// Maximum number of attempts to draw a number within bounds.
const ATTEMPTS: u32 = 100;
/// Number of attempts that cost as much as one short value.
const ATTEMPTS_OF_A_COST: f64 = 4.0;
const NOTHING_BETWEEN: &str = "must be at least min, with the wanted decimals between them";

/// Uniformly distributed integers or, scaled by a power of ten, decimals.
struct Uniform {
    least: i64,
    count: u64,
    decimals: u32,
}

impl Make for Uniform {
    fn write(&self, _: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        self.write_nth(random.below(self.count), row, cell);
    }

    fn space(&self) -> Option<u64> {
        Some(self.count)
    }

    fn write_nth(&self, nth: u64, _: &mut Row, cell: &mut Cell) {
        cell.set_decimal(self.least.wrapping_add_unsigned(nth), self.decimals);
    }
}

/// Reads the type `integer`: `min` (0) and `max` (1000000).
pub fn integer(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let bounds = (-LARGEST, LARGEST);
    let least = members.integer("min", 0, bounds, faults);
    let most = members.integer("max", least.max(1_000_000), bounds, faults);
    if least > most {
        faults.add(members.at("max"), format!("must be at least min, {least}"));
        return None;
    }
    Some(Box::new(Uniform { least, count: most.abs_diff(least) + 1, decimals: 0 }))
}

/// Reads the type `decimal`: `min` (0), `max` (1000) and `decimals` (2).
pub fn decimal(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let decimals = members.integer("decimals", 2, (0, DECIMALS), faults) as u32;
    let (least, most) =
        (members.number("min", 0.0, faults), members.number("max", 1_000.0, faults));
    let (least, most) = (units(least, decimals, f64::ceil), units(most, decimals, f64::floor));
    if least > most {
        faults.add(members.at("max"), NOTHING_BETWEEN);
        return None;
    }
    if least < -(LARGEST as f64) || most > LARGEST as f64 {
        faults
            .add(members.at("max"), "is too large for these decimals: at most 15 digits together");
        return None;
    }
    let (least, most) = (least as i64, most as i64);
    let count = most.abs_diff(least) + 1;
    Some(Box::new(Uniform { least, count, decimals }))
}

/// Converts a bound to units of the last decimal, rounding with `round`.
fn units(bound: f64, decimals: u32, round: fn(f64) -> f64) -> f64 {
    let units = bound * 10_f64.powi(decimals.cast_signed());
    // Ignore floating-point errors. For example, 0.07 * 100 is slightly above 7.
    if (units.round() - units).abs() < 1e-6 { units.round() } else { round(units) }
}

/// Normally or log-normally distributed numbers within bounds.
struct Normal {
    mean: f64,
    deviation: f64,
    least: f64,
    most: f64,
    decimals: usize,
    is_log: bool,
}

impl Normal {
    /// Returns the share of numbers within the bounds, before any of them are redrawn.
    fn share_within(&self) -> f64 {
        let (least, most) = match self.is_log {
            true => (self.least.max(0.0).ln(), self.most.max(0.0).ln()),
            false => (self.least, self.most),
        };
        if self.deviation == 0.0 {
            return if (least..=most).contains(&self.mean) { 1.0 } else { 0.0 };
        }
        let below = |bound: f64| share_below((bound - self.mean) / self.deviation);
        below(most) - below(least)
    }
}

/// Returns the share of standard normal numbers below a bound, with an error of less than 1e-7
/// (Abramowitz and Stegun, 26.2.17).
fn share_below(bound: f64) -> f64 {
    const FACTORS: [f64; 5] =
        [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let part = 1.0 / (1.0 + 0.231_641_9 * bound.abs());
    let sum = FACTORS.iter().rev().fold(0.0, |sum, factor| (sum + factor) * part);
    let outside = (-0.5 * bound * bound).exp() / TAU.sqrt() * sum;
    if bound < 0.0 { outside } else { 1.0 - outside }
}

impl Make for Normal {
    /// Redraws numbers that are out of bounds. After the last attempt, the number is clamped.
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        let mut value = f64::NAN;
        for _ in 0..ATTEMPTS {
            // The Box–Muller transform. 1 - u is never 0.
            let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
            value = self.mean + self.deviation * radius * (TAU * random.unit()).cos();
            if self.is_log {
                value = value.exp();
            }
            if (self.least..=self.most).contains(&value) {
                break;
            }
        }
        let (value, decimals) = (value.clamp(self.least, self.most), self.decimals);
        // Avoids negative zero.
        let value = if value.abs() < 0.5 * 10_f64.powi(-(decimals as i32)) { 0.0 } else { value };
        cell.set(Shape::Number, format_args!("{value:.decimals$}"));
    }

    fn more_cost(&self) -> u64 {
        let attempts = 1.0 / self.share_within().max(f64::MIN_POSITIVE);
        let attempts = attempts.clamp(1.0, f64::from(ATTEMPTS));
        ((attempts - 1.0) / ATTEMPTS_OF_A_COST) as u64
    }
}

/// Reads the types `normal` and `lognormal`: `mean` (0), `deviation` (1), `min`, `max` and
/// `decimals` (2). For `lognormal`, the mean and deviation refer to the logarithm.
pub fn normal(
    members: &mut Members<'_>,
    is_log: bool,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    let mean = members.number("mean", 0.0, faults);
    let deviation = members.number("deviation", 1.0, faults);
    let (least, most) = (if is_log { 0.0 } else { -1e15 }, 1e15);
    let (least, most) = (members.number("min", least, faults), members.number("max", most, faults));
    let decimals = members.integer("decimals", 2, (0, DECIMALS), faults) as u32;
    let before = faults.count();
    if deviation < 0.0 {
        faults.add(members.at("deviation"), "must not be negative");
    }
    // Since numbers are rounded to this number of decimals, the bounds have to be rounded inwards.
    // Otherwise, rounding could move a number out of bounds.
    let rounded = |bound: f64, round: fn(f64) -> f64| {
        let units = units(bound, decimals, round);
        // Beyond this, floating-point numbers don't have any more decimals to round.
        let is_exact = units.abs() <= LARGEST as f64;
        if is_exact { units / 10_f64.powi(decimals.cast_signed()) } else { bound }
    };
    let (least, most) = (rounded(least, f64::ceil), rounded(most, f64::floor));
    if least > most {
        faults.add(members.at("max"), NOTHING_BETWEEN);
    }
    let decimals = decimals as usize;
    let is_right = faults.count() == before;
    is_right.then(|| Box::new(Normal { mean, deviation, least, most, decimals, is_log }) as _)
}

/// Booleans, with the share of `true` in units of 1/2^32.
struct Boolean(u64);

impl Make for Boolean {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        cell.set(Shape::Boolean, random.below(1 << 32) < self.0);
    }

    fn space(&self) -> Option<u64> {
        Some(2)
    }

    fn write_nth(&self, nth: u64, _: &mut Row, cell: &mut Cell) {
        cell.set(Shape::Boolean, nth == 1);
    }
}

/// Reads the type `boolean`: the `share` of true values (0.5).
pub fn boolean(members: &mut Members<'_>, faults: &mut Faults) -> Box<dyn Make> {
    Box::new(Boolean(part(members.share("share", 0.5, faults))))
}

/// Converts a share to units of 1/2^32.
pub fn part(share: f64) -> u64 {
    (share * (1_u64 << 32) as f64).round() as u64
}

/// Consecutive numbers in row order.
struct Sequence {
    start: i64,
    step: i64,
}

impl Make for Sequence {
    fn write(&self, index: u64, _: &mut Random, _: &mut Row, cell: &mut Cell) {
        let number = i128::from(self.start) + i128::from(self.step) * i128::from(index);
        match i64::try_from(number) {
            Ok(number) => cell.set_decimal(number, 0),
            Err(_) => cell.set(Shape::Number, number),
        }
    }

    fn is_unique(&self) -> bool {
        true
    }
}

/// Reads the type `sequence`: `start` (1) and `step` (1).
pub fn sequence(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let start = members.integer("start", 1, (-LARGEST, LARGEST), faults);
    let step = members.integer("step", 1, (-1_000_000, 1_000_000), faults);
    if step == 0 {
        faults.add(members.at("step"), "must not be 0");
        return None;
    }
    Some(Box::new(Sequence { start, step }))
}

#[cfg(test)]
mod tests {
    use super::{Make, Normal, share_below};

    #[test]
    fn shares_of_normal_numbers_are_known() {
        for (bound, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_7),
            (-1.96, 0.024_997_9),
            (40.0, 1.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, 0.0),
        ] {
            assert!((share_below(bound) - expected).abs() < 1e-6, "{bound}");
        }
    }

    #[test]
    fn numbers_that_are_mostly_out_of_bounds_cost_more() {
        let cost = |(least, most): (f64, f64), deviation: f64, is_log: bool| {
            Normal { mean: 0.0, deviation, least, most, decimals: 2, is_log }.more_cost()
        };
        assert_eq!(cost((-1e15, 1e15), 1.0, false), 0);
        assert_eq!(cost((0.0, 1e15), 1.0, true), 0);
        // About 1 in 44 numbers is above 2.
        assert_eq!(cost((2.0, 1e15), 1.0, false), 10);
        assert_eq!(cost((40.0, 50.0), 1.0, false), 24);
        assert_eq!(cost((0.0, 0.000_1), 1.0, true), 24);
        assert_eq!(cost((1.0, 2.0), 0.0, false), 24);
        assert_eq!(cost((0.0, 2.0), 0.0, false), 0);
    }
}
