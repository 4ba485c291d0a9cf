//! Reads the cultures that `build.rs` packed.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

use super::list::{List, Names};

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cultures.bin"));

/// The first four weights, in units of 1/16. All weights are powers of two whose exponents are
/// multiples of a quarter.
const QUARTERS: [u32; 4] = [16, 19, 23, 27];

/// Returns the unpacked text of the `nth` culture. If the data were damaged, this would be empty,
/// but a test rules that out.
pub fn unpacked(nth: usize) -> String {
    let number = |at: usize| -> Option<usize> {
        let bytes = PACKED.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes) as usize)
    };
    let read = || {
        let (offset, length) = (number(nth * 8)?, number(nth * 8 + 4)?);
        let mut text = String::new();
        let packed = PACKED.get(offset..offset + length)?;
        DeflateDecoder::new(packed).read_to_string(&mut text).ok()?;
        Some(text)
    };
    read().unwrap_or_default()
}

/// Reads a culture's lines, which contain several lists in a row.
pub struct Lines<'a> {
    lines: std::str::Lines<'a>,
}

/// A decoded list entry.
struct Row<'a> {
    name: String,
    weight: u32,
    columns: &'a str,
}

impl<'a> Lines<'a> {
    /// Creates a reader, positioned at the first list.
    pub fn of(text: &'a str) -> Self {
        Self { lines: text.lines() }
    }

    /// Reads the next list.
    pub fn list(&mut self) -> List {
        let rows = self.rows();
        List::of(rows.iter().map(|row| (row.name.as_str(), row.weight)))
    }

    /// Reads the next list, including Latin forms and readings.
    pub fn names(&mut self) -> Names {
        let (list, columns) = self.table();
        Names::new(list, &columns)
    }

    /// Reads the next list, and also returns the columns after the weights.
    pub fn table(&mut self) -> (List, Vec<&'a str>) {
        let rows = self.rows();
        let columns = rows.iter().map(|row| row.columns).collect();
        (List::of(rows.iter().map(|row| (row.name.as_str(), row.weight))), columns)
    }

    /// Returns the remaining lines as keys, values and weights.
    pub fn profile(self) -> impl Iterator<Item = (&'a str, &'a str, u32)> {
        self.lines.filter_map(|line| {
            let (key, rest) = line.split_once('\t')?;
            let (value, weight) = rest.rsplit_once('\t')?;
            Some((key, value, weight.parse().ok()?))
        })
    }

    fn rows(&mut self) -> Vec<Row<'a>> {
        let mut rows: Vec<Row<'a>> = Vec::new();
        for line in self.lines.by_ref().take_while(|line| !line.is_empty()) {
            let mut columns = line.splitn(3, '\t');
            let coded = columns.next().unwrap_or_default();
            let class = columns.next().and_then(|column| column.bytes().next()).unwrap_or(b'0');
            let class = u32::from(class.saturating_sub(b'0')).min(60);
            let (shared, own) = coded.split_at(1);
            let shared = usize::from(shared.as_bytes()[0].saturating_sub(b'0'));
            let before = rows.last().and_then(|row| row.name.get(..shared)).unwrap_or_default();
            let name = format!("{before}{own}");
            let weight = QUARTERS[(class % 4) as usize] << (class / 4);
            rows.push(Row { name, weight, columns: columns.next().unwrap_or_default() });
        }
        rows
    }
}
