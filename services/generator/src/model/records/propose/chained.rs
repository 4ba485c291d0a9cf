//! Prevents cycles among dates that are computed from other dates.

use std::mem;

use super::column::Column;
use super::existing::Existing;

/// Maximum length of a chain of dates, each computed from the next.
const CHAIN: usize = 60;

impl Existing {
    /// Replaces the columns at these places. Returns false without changing anything if a date
    /// would then depend on itself, or on too long a chain of others.
    pub fn replace(&mut self, places: &[usize], mut columns: Vec<Column>) -> bool {
        let mut swap = |own: &mut Self| {
            for (place, column) in places.iter().zip(&mut columns) {
                mem::swap(&mut own.columns[*place], column);
            }
        };
        swap(self);
        let has_start = places.iter().all(|place| self.has_start(*place));
        if !has_start {
            swap(self);
        }
        has_start
    }

    /// Returns whether the column's chain ends within [`CHAIN`] steps, at a column that isn't
    /// computed.
    fn has_start(&self, place: usize) -> bool {
        let mut column = &self.columns[place];
        for _ in 0..CHAIN {
            let Some((name, _)) = &column.after else { return true };
            let Some(before) = self.columns.iter().find(|own| own.name == *name) else {
                return true;
            };
            column = before;
        }
        false
    }
}
