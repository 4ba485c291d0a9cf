//! Values picked from a list, and constants.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::fault::Faults;
use crate::model::records::field::{Make, Row};
use crate::model::records::members::Members;

/// Maximum number of values to choose from.
const MOST: usize = 10_000;

/// Maximum weight of a value.
const LARGEST_WEIGHT: f64 = 1e9;

/// A value from a list, picked by weight.
struct Choice {
    values: Vec<(Shape, String)>,
    /// Cumulative weights. Empty if all weights are equal.
    sums: Vec<f64>,
    /// Indexes of the values, excluding duplicates of earlier ones and those with weight 0.
    distinct: Vec<usize>,
}

impl Choice {
    fn set(&self, place: usize, cell: &mut Cell) {
        if let Some((shape, text)) = self.values.get(place) {
            cell.begin().push_str(text);
            cell.shape = *shape;
        }
    }
}

impl Make for Choice {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        self.set(pick(&self.sums, self.values.len(), random), cell);
    }

    fn space(&self) -> Option<u64> {
        Some(self.distinct.len() as u64)
    }

    fn write_nth(&self, nth: u64, _: &mut Row, cell: &mut Cell) {
        if let Some(place) = self.distinct.get(nth as usize) {
            self.set(*place, cell);
        }
    }

    fn has_nulls(&self) -> bool {
        self.values.iter().any(|(shape, _)| *shape == Shape::Null)
    }
}

/// Reads the type `choice`: `values`, and a list of `weights` of the same length.
pub fn choice(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let values = members.required("values", faults).and_then(Value::as_array);
    let Some(values) = values.filter(|values| (1..=MOST).contains(&values.len())) else {
        faults.add(members.at("values"), format!("must be an array of 1 to {MOST} values"));
        members.array("weights", faults);
        return None;
    };
    let sums = sums(members, values.len(), faults)?;
    let values: Vec<_> = values.iter().map(written).collect();
    let mut known = HashSet::new();
    let before = |place: usize| place.checked_sub(1).map_or(0.0, |before| sums[before]);
    let has_weight = |place: usize| sums.is_empty() || sums[place] > before(place);
    let distinct = (0..values.len())
        .filter(|place| has_weight(*place) && known.insert(&values[*place].1))
        .collect();
    Some(Box::new(Choice { values, sums, distinct }))
}

/// Reads `weights` and returns cumulative sums, which are empty if all weights are equal. Returns
/// `None` if there was an error.
pub fn sums(members: &mut Members<'_>, count: usize, faults: &mut Faults) -> Option<Vec<f64>> {
    let Some(weights) = members.array("weights", faults) else { return Some(Vec::new()) };
    let (mut sums, mut sum) = (Vec::new(), 0.0);
    for (place, weight) in weights.iter().enumerate() {
        match weight.as_f64().filter(|weight| (0.0..=LARGEST_WEIGHT).contains(weight)) {
            Some(weight) => sum += weight,
            None => {
                let at = format!("{}/{place}", members.at("weights"));
                faults.add(at, "must be a number from 0 to 1000000000");
            }
        }
        sums.push(sum);
    }
    if weights.len() != count || sum <= 0.0 {
        faults.add(members.at("weights"), format!("must be {count} numbers, one above 0"));
        return None;
    }
    Some(sums)
}

/// Picks one of `count` values. `sums` contains their cumulative weights, or is empty if all are
/// equal.
pub fn pick(sums: &[f64], count: usize, random: &mut Random) -> usize {
    match sums.last() {
        None => random.index(count),
        Some(total) => {
            let at = random.unit() * total;
            sums.partition_point(|sum| *sum <= at).min(count - 1)
        }
    }
}

/// A value that is the same in every row.
struct Constant(Shape, String);

impl Make for Constant {
    fn write(&self, _: u64, _: &mut Random, _: &mut Row, cell: &mut Cell) {
        cell.begin().push_str(&self.1);
        cell.shape = self.0;
    }

    fn has_nulls(&self) -> bool {
        self.0 == Shape::Null
    }
}

/// Reads the type `constant`: `value`, which can be any JSON value.
pub fn constant(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let (shape, text) = written(members.required("value", faults)?);
    Some(Box::new(Constant(shape, text)))
}

fn written(value: &Value) -> (Shape, String) {
    match value {
        Value::Null => (Shape::Null, String::new()),
        Value::Bool(value) => (Shape::Boolean, value.to_string()),
        Value::Number(number) => (Shape::Number, number.to_string()),
        Value::String(text) => (Shape::Text, text.clone()),
        Value::Array(_) | Value::Object(_) => (Shape::Json, value.to_string()),
    }
}
