//! Brands, reviews and coordinates.

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::fault::Faults;
use crate::model::records::field::{FieldKey, Make, Row, SharedField};
use crate::model::records::members::Members;
use crate::model::{brand, review};

/// For each country, a rectangle within it: the southern and northern latitude, and the western and
/// eastern longitude.
const RECTANGLES: &str = include_str!("../../../../data/rectangles.tsv");
/// The words used for brand names if the schema does not specify any.
const ROOTS: [&str; 24] = [
    "alpine", "amber", "aqua", "aroma", "bright", "cedar", "cloud", "copper", "coral", "delta",
    "ember", "fern", "harbor", "juniper", "linen", "lunar", "maple", "nova", "orbit", "pebble",
    "river", "solar", "timber", "velvet",
];
/// Coordinates have five decimals, which is a precision of about one metre.
const UNITS: f64 = 100_000.0;

/// Generates brand names.
struct Brands {
    words: Option<String>,
}

impl Make for Brands {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        let words = self.words.as_deref().unwrap_or_else(|| random.pick::<&str>(&ROOTS));
        cell.begin().push_str(&brand::make_one(words, random));
    }
}

/// Reads the type `brand`: `words` (any).
pub fn brands(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let words = members.text("words", faults);
    if words.is_some_and(|words| !brand::possible(words) || words.chars().count() > 200) {
        faults.add(members.at("words"), "must have a letter or digit, and at most 200 characters");
        return None;
    }
    Some(Box::new(Brands { words: words.map(str::to_owned) }))
}

/// The product that a review is about.
pub enum Product {
    /// A fixed name.
    Name(String),
    /// The value of a field of the same row.
    Field(SharedField),
}

/// The type `review`: reviews of a product.
pub struct Reviews(pub Product);

impl Make for Reviews {
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        match &self.0 {
            Product::Name(name) => review::write(name, random, cell.begin()),
            Product::Field(field) => row.with_cell(|row, product| {
                field.write(index, row, product);
                let name = product.as_text().unwrap_or("product");
                review::write(name, random, cell.begin());
            }),
        }
    }
}

/// The points of the rows of a table.
struct Points {
    key: FieldKey,
    /// The minimum latitude and longitude, and the number of steps from there.
    south_west: [i64; 2],
    steps: [u64; 2],
}

/// The latitude or the longitude of a point.
struct Coordinate {
    points: Points,
    axis: usize,
}

impl Make for Coordinate {
    fn write(&self, index: u64, _: &mut Random, _: &mut Row, cell: &mut Cell) {
        let points = &self.points;
        let mut random = points.key.part(self.axis as u64).random(index);
        let units = points.south_west[self.axis] + random.below(points.steps[self.axis]) as i64;
        let degrees = units as f64 / UNITS;
        cell.set(Shape::Number, format_args!("{degrees:.5}"));
    }
}

/// Reads the types `latitude` (axis 0) and `longitude` (axis 1): `country` (US), and `of` to
/// distinguish several points in a row.
pub fn coordinates(
    members: &mut Members<'_>,
    axis: usize,
    key: impl FnOnce(&str) -> FieldKey,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    let country = members.text("country", faults).unwrap_or("US");
    let of = members.text("of", faults).unwrap_or_default();
    let row = RECTANGLES.lines().filter_map(|row| row.split_once('\t'));
    let Some((code, bounds)) = row.into_iter().find(|(code, _)| code.eq_ignore_ascii_case(country))
    else {
        let codes: Vec<_> = RECTANGLES.lines().filter_map(|row| row.get(..2)).collect();
        faults.add(members.at("country"), format!("must be one of {}", codes.join(", ")));
        return None;
    };
    let mut bounds = bounds.split('\t').map(|bound| bound.parse::<f64>().unwrap_or_default());
    let [south, north, west, east] =
        std::array::from_fn(|_| (bounds.next().unwrap_or_default() * UNITS).round() as i64);
    let steps = [south.abs_diff(north) + 1, west.abs_diff(east) + 1];
    let points =
        Points { key: key(&format!("point {code} {of}")), south_west: [south, west], steps };
    Some(Box::new(Coordinate { points, axis }))
}

#[cfg(test)]
mod tests {
    use super::RECTANGLES;
    use crate::model::names;

    #[test]
    fn every_country_of_a_culture_has_a_rectangle() {
        for culture in names::all() {
            let row = RECTANGLES.lines().find(|row| row.get(..2) == Some(culture.country));
            let bounds: Vec<f64> =
                row.unwrap().split('\t').skip(1).map(|bound| bound.parse().unwrap()).collect();
            assert!(bounds.len() == 4 && bounds[0] < bounds[1] && bounds[2] < bounds[3], "{row:?}");
            assert!(bounds[..2].iter().all(|bound| bound.abs() < 90.0), "{row:?}");
        }
    }
}
