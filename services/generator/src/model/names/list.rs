//! Weighted lists of names.

use std::ops::Deref;
use std::sync::OnceLock;

use super::latin::latin;
use crate::model::random::Random;

/// Names in a single string, with an alias table for constant-time sampling.
#[derive(Default)]
pub struct List {
    text: Box<str>,
    /// The end offset of each name.
    ends: Box<[u32]>,
    /// The alias table. Empty if all names are equally likely.
    cells: Box<[Cell]>,
}

/// A cell in an alias table (Vose's method): the probability of the cell's own name, and the alias
/// to use otherwise.
#[derive(Clone, Copy)]
struct Cell {
    /// The probability in units of 1/65536.
    own: u16,
    other: u16,
}

/// Names with their Latin forms and, for Japanese, their readings, as far as `build.rs` has packed
/// these.
#[derive(Default)]
pub struct Names {
    list: List,
    /// Latin forms. Empty if the script is converted letter by letter.
    pub latin: List,
    /// Readings in katakana.
    pub kana: List,
    /// Latin forms that are converted letter by letter on first use. An empty string means that the
    /// name stays unchanged.
    converted: OnceLock<List>,
}

impl Names {
    /// Creates a list of names. `columns` contains the Latin form and the reading of each name.
    pub fn new(list: List, columns: &[&str]) -> Self {
        let column = |nth: usize| {
            let column = || columns.iter().map(|row| row.split('\t').nth(nth).unwrap_or_default());
            match column().all(str::is_empty) {
                true => List::default(),
                false => List::of(column().map(|text| (text, 1))),
            }
        };
        Self { list, latin: column(0), kana: column(1), converted: OnceLock::new() }
    }

    /// Returns the name at `position` in Latin letters. `language` is the language of all names in
    /// the list.
    pub fn romanised(&self, position: usize, language: &str) -> &str {
        let written = self.latin.get(position);
        if !written.is_empty() {
            return written;
        }
        let converted = self.converted.get_or_init(|| self.convert(language)).get(position);
        if converted.is_empty() { self.get(position) } else { converted }
    }

    fn convert(&self, language: &str) -> List {
        let convert = |position| {
            let name = self.get(position);
            Some(latin(name, language)).filter(|latin| latin != name).unwrap_or_default()
        };
        let forms: Vec<String> = (0..self.len()).map(convert).collect();
        match forms.iter().all(String::is_empty) {
            true => List::default(),
            false => List::of(forms.iter().map(|form| (form.as_str(), 1))),
        }
    }

    /// Returns the memory used, in bytes.
    #[cfg(test)]
    pub fn resident(&self) -> usize {
        self.list.resident() + self.latin.resident() + self.kana.resident()
    }
}

impl Deref for Names {
    type Target = List;

    fn deref(&self) -> &List {
        &self.list
    }
}

impl List {
    /// Creates a weighted list of up to 65536 names.
    pub fn of<'a>(items: impl Iterator<Item = (&'a str, u32)>) -> Self {
        let (mut text, mut ends, mut weights) = (String::new(), Vec::new(), Vec::new());
        for (name, weight) in items {
            text.push_str(name);
            ends.push(text.len() as u32);
            weights.push(weight.max(1));
        }
        let cells = if weights.windows(2).all(|two| two[0] == two[1]) {
            Vec::new()
        } else {
            alias_table(&weights)
        };
        Self { text: text.into(), ends: ends.into(), cells: cells.into() }
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the name at `position`, or an empty string if that is out of range.
    pub fn get(&self, position: usize) -> &str {
        let Some(end) = self.ends.get(position) else { return "" };
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..*end as usize]
    }

    /// Samples an index.
    pub fn position(&self, random: &mut Random) -> usize {
        if self.cells.is_empty() {
            return random.index(self.ends.len());
        }
        let drawn = random.below((self.cells.len() as u64) << 16);
        let (position, share) = ((drawn >> 16) as usize, drawn as u16);
        let cell = self.cells[position];
        if share < cell.own { position } else { cell.other.into() }
    }

    /// Samples a name, or returns an empty string if there are none.
    pub fn sample(&self, random: &mut Random) -> &str {
        if self.is_empty() { "" } else { self.get(self.position(random)) }
    }

    /// Returns all names, in order.
    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|position| self.get(position))
    }

    /// Returns the memory used, in bytes.
    #[cfg(test)]
    pub fn resident(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>() + self.cells.len() * size_of::<Cell>()
    }
}

/// Builds the alias table. Where a rare name leaves room in its cell, a single common name fills
/// it.
fn alias_table(weights: &[u32]) -> Vec<Cell> {
    let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let count = weights.len() as u64;
    // Scaled so that a full cell is equal to `total`.
    let mut left: Vec<u64> = weights.iter().map(|weight| u64::from(*weight) * count).collect();
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for (position, share) in left.iter().enumerate() {
        if *share < total { &mut small } else { &mut large }.push(position);
    }
    let mut cells: Vec<Cell> =
        (0..weights.len()).map(|position| Cell { own: u16::MAX, other: position as u16 }).collect();
    while let (Some(rare), Some(common)) = (small.pop(), large.last().copied()) {
        let own = (left[rare] << 16) / total;
        cells[rare] = Cell { own: own.clamp(1, 65_535) as u16, other: common as u16 };
        left[common] -= total - left[rare];
        if left[common] < total {
            large.pop();
            small.push(common);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn names_are_sampled_by_weight() {
        let list = List::of([("A", 1), ("B", 3), ("C", 12), ("D", 4)].into_iter());
        let mut random = Seed::parse("list").unwrap().random("test", "");
        let mut seen = [0; 4];
        for _ in 0..40_000 {
            let name = list.sample(&mut random);
            seen[usize::from(name.as_bytes()[0] - b'A')] += 1;
        }
        for (count, expected) in seen.into_iter().zip([2_000, 6_000, 24_000, 8_000]) {
            assert!(((expected - 400)..(expected + 400)).contains(&count), "{seen:?}");
        }
    }

    #[test]
    fn equal_weights_need_no_table() {
        let list = List::of([("A", 2), ("B", 2)].into_iter());
        assert!(list.cells.is_empty());
        assert_eq!(list.iter().collect::<String>(), "AB");
        assert_eq!(List::default().get(0), "");
    }
}
