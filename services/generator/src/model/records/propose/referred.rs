//! Handles checks and uniqueness for foreign key columns. Their values come from other tables.

use super::column::{Column, Stored};
use super::existing::{Distinct, Existing};

/// Follows references to a column that isn't itself a reference. Returns `None` for a cycle.
fn target<'t>(column: &'t Column, tables: &'t [Existing]) -> Option<&'t Column> {
    let mut column = column;
    for _ in 0..=tables.len() {
        let Some((table, name)) = &column.refers else { return Some(column) };
        let table = tables.iter().find(|own| own.name == *table)?;
        column = table.columns.iter().find(|own| own.name == *name)?;
    }
    None
}

/// Returns whether all values in `target` comply with the checks on `own`, which references it.
fn satisfies(target: &Column, own: &Column) -> bool {
    let is_negative = target.most.is_some_and(|most| most < 0.0);
    // Generated numbers aren't negative unless they have to be, and keys are counted from 1.
    let usual = if target.is_key { 1.0 } else { 0.0 };
    let least = target.least.or((!is_negative).then_some(usual));
    let most = target.most.into_iter().chain(target.limit).reduce(f64::min);
    let has_length = match (&own.stored, &target.stored) {
        (Stored::Text(Some(most)), Stored::Text(longest)) => {
            longest.is_some_and(|longest| longest <= *most)
        }
        _ => true,
    };
    let has_choices = !target.choices.is_empty()
        && target.choices.iter().all(|value| own.choices.contains(value));
    (own.choices.is_empty() || has_choices)
        && !target.has_likely(&own.excluded)
        && own.least.is_none_or(|own| least.is_some_and(|least| least >= own))
        && own.most.is_none_or(|own| most.is_some_and(|most| most <= own))
        && (own.days == (None, None) || own.days == target.days)
        && (own.regex.is_none() || own.regex == target.regex)
        && own.after.is_none()
        && own.shortest <= target.shortest
        && (!own.is_upper || target.is_upper)
        && (!own.is_lower || target.is_lower)
        && has_length
}

impl Existing {
    /// Reports checks on references that the referenced values might violate.
    pub fn note_limited(tables: &mut [Self]) {
        let mut broken = Vec::new();
        for (place, table) in tables.iter().enumerate() {
            for (own, check) in &table.limited {
                if target(own, tables).is_none_or(|target| !satisfies(target, own)) {
                    broken.push((place, check.clone()));
                }
            }
        }
        for (place, check) in broken {
            let known = &mut tables[place].broken;
            if !known.contains(&check) {
                known.push(check);
            }
        }
    }

    /// Makes unique references pick each row at most once. Reports references to columns that
    /// contain duplicates, because these can't be unique.
    pub fn choose_once(&mut self, distinct: &Distinct) {
        for place in 0..self.columns.len() {
            let column = &self.columns[place];
            let Some(target) = column.refers.as_ref().filter(|_| !column.is_null) else { continue };
            if !(column.unique || column.is_key) || target.0 == self.name {
                continue;
            }
            let (name, first) = (column.name.clone(), column.with.clone());
            if !distinct.contains(target) {
                self.broken.push(format!("UNIQUE ({name})"));
            } else if let Some(first) = &first
                && let Some(first) = self.find(first)
            {
                first.unique = true;
            }
        }
    }

    /// Adds the unique columns to `distinct`.
    pub fn add_distinct(&self, distinct: &mut Distinct) {
        let is_unique = |column: &Column| column.unique || column.is_key;
        let chooses_once = |column: &Column| match &column.with {
            Some(first) => self.columns.iter().any(|own| own.name == *first && is_unique(own)),
            None => true,
        };
        let own = self.columns.iter().filter(|column| {
            let is_cut = column.stored == Stored::Timestamp && column.days != (None, None);
            is_unique(column)
                && column.can_be_unique()
                && column.after.is_none()
                && !(column.is_local && is_cut || column.is_null)
                && column
                    .refers
                    .as_ref()
                    .is_none_or(|target| distinct.contains(target) && chooses_once(column))
        });
        let own: Vec<_> = own.map(|column| (self.name.clone(), column.name.clone())).collect();
        distinct.extend(own);
    }
}
