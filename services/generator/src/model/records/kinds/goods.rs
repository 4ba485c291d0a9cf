//! Brands, reviews and coordinates.

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::fault::Faults;
use crate::model::records::field::{FieldKey, Make, Row, SharedField};
use crate::model::records::members::Members;
use crate::model::{brand, review};

/// Rectangles within countries, made by `scripts/outlines`, which describes them.
const RECTANGLES: &str = include_str!("../../../../data/rectangles.tsv");
/// The words used for brand names if the schema does not specify any.
const ROOTS: [&str; 24] = [
    "alpine", "amber", "aqua", "aroma", "bright", "cedar", "cloud", "copper", "coral", "delta",
    "ember", "fern", "harbor", "juniper", "linen", "lunar", "maple", "nova", "orbit", "pebble",
    "river", "solar", "timber", "velvet",
];
/// Coordinates have five decimals, which is a precision of about one metre.
const UNITS: f64 = 100_000.0;
/// Thousandths of a degree, the unit of rectangles.
const UNITS_OF_AREA: u64 = 1_000;

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

/// The area of a country, in rectangles of the same height. Lengths are thousandths of a degree.
#[derive(Default)]
struct Area {
    height: u64,
    /// The southern latitude, the western longitude, and the width of each rectangle.
    rectangles: Vec<(i64, i64, u64)>,
    /// The sum of the sizes of the rectangles to each, with it.
    sums: Vec<u64>,
}

impl Area {
    /// Reads the line of a country after its code.
    fn read(line: &str) -> Option<Self> {
        let (height, bands) = line.split_once('\t')?;
        let mut area = Self { height: height.parse().ok()?, ..Self::default() };
        let mut sum = 0;
        for band in bands.split('\t') {
            let (south, parts) = band.split_once(':')?;
            let south: i64 = south.parse().ok()?;
            // A degree of longitude is shorter in the north.
            let middle = (south as f64 + area.height as f64 / 2.0) / UNITS_OF_AREA as f64;
            for part in parts.split(' ') {
                let (west, east) = part.split_once(',')?;
                let (west, east): (i64, i64) = (west.parse().ok()?, east.parse().ok()?);
                let width = west.abs_diff(east);
                sum += (width as f64 * middle.to_radians().cos() * UNITS_OF_AREA as f64) as u64;
                area.rectangles.push((south, west, width));
                area.sums.push(sum);
            }
        }
        Some(area)
    }

    /// Returns the latitude (axis 0) or longitude (axis 1) of the point of a row, in [`UNITS`].
    fn coordinate(&self, key: &FieldKey, axis: usize, index: u64) -> i64 {
        let place = key.part(2).random(index).below(self.sums.last().copied().unwrap_or(1));
        let rectangle = self.rectangles.get(self.sums.partition_point(|&sum| sum <= place));
        let (south, west, width) = rectangle.copied().unwrap_or_default();
        let (start, length) = [(south, self.height), (west, width)][axis];
        let steps = UNITS as u64 / UNITS_OF_AREA;
        let step = key.part(axis as u64).random(index).below((length * steps).max(1));
        start * steps as i64 + step as i64
    }
}

/// The latitude or longitude of the points of a table's rows.
struct Coordinate {
    key: FieldKey,
    area: Area,
    axis: usize,
}

impl Make for Coordinate {
    fn write(&self, index: u64, _: &mut Random, _: &mut Row, cell: &mut Cell) {
        let degrees = self.area.coordinate(&self.key, self.axis, index) as f64 / UNITS;
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
    let mut lines = RECTANGLES.lines().filter_map(|line| line.split_once('\t'));
    let line = lines.find(|(code, _)| code.eq_ignore_ascii_case(country));
    let Some((code, area)) = line.and_then(|(code, line)| Some((code, Area::read(line)?))) else {
        let codes: Vec<_> = RECTANGLES.lines().filter_map(|line| line.get(..2)).collect();
        faults.add(members.at("country"), format!("must be one of {}", codes.join(", ")));
        return None;
    };
    Some(Box::new(Coordinate { key: key(&format!("point {code} {of}")), area, axis }))
}

#[cfg(test)]
mod tests {
    use super::{Area, RECTANGLES};
    use crate::model::names;

    #[test]
    fn every_country_of_a_culture_has_rectangles_that_do_not_overlap() {
        for culture in names::all() {
            let mut lines = RECTANGLES.lines().filter_map(|line| line.split_once('\t'));
            let (_, line) = lines.find(|(code, _)| *code == culture.country).unwrap();
            let area = Area::read(line).unwrap();
            assert!(area.rectangles.len() > 40, "{}", culture.country);
            for pair in area.rectangles.windows(2) {
                let ((south, west, width), (north, other, _)) = (pair[0], pair[1]);
                let is_apart = if south == north {
                    west + width.cast_signed() < other
                } else {
                    south + area.height.cast_signed() <= north
                };
                assert!(is_apart && width > 0, "{} {pair:?}", culture.country);
            }
            assert!(area.sums.is_sorted_by(|sum, next| sum < next), "{}", culture.country);
        }
    }
}
