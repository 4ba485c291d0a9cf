//! Existing tables: their columns, keys and checks.

use std::collections::HashSet;

use serde_json::json;
use sqlparser::ast::Expr;

use super::column::{Column, Stored};
use super::names::{is_address, is_state};
use super::{checks, globs};

/// Maximum length of a name in characters.
const LONGEST_NAME: usize = 64;

/// Columns with unique values, as pairs of table and column.
pub type Distinct = HashSet<(String, String)>;

/// An existing table.
pub struct Existing {
    pub name: String,
    pub columns: Vec<Column>,
    pub key: Vec<String>,
    /// Sets of columns that are unique as a combination.
    pub unique: Vec<Vec<String>>,
    pub references: Vec<Reference>,
    /// Check constraints. A domain's constraints come with the name of the column that uses the
    /// domain.
    pub checks: Vec<(Expr, Option<String>)>,
    /// Checks on foreign keys, each with the column as it would be if this were the only check.
    pub limited: Vec<(Column, String)>,
    /// Descriptions of constraints that rows might violate.
    pub broken: Vec<String>,
}

/// A foreign key, with one or more columns.
#[derive(Clone)]
pub struct Reference {
    pub columns: Vec<String>,
    pub table: String,
    /// The referenced columns. Empty if they are the other table's primary key.
    pub targets: Vec<String>,
}

impl Existing {
    pub fn new(name: String, columns: Vec<Column>) -> Self {
        Self {
            name,
            columns,
            key: Vec::new(),
            unique: Vec::new(),
            references: Vec::new(),
            checks: Vec::new(),
            limited: Vec::new(),
            broken: Vec::new(),
        }
    }

    pub fn find(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Removes columns whose names aren't valid field names.
    pub fn leave_out_names(&mut self) {
        let broken = &mut self.broken;
        self.columns.retain(|column| {
            let fits = is_name(&column.name);
            if !fits {
                broken.push(format!("the column {}, whose name no field can have", column.name));
            }
            fits
        });
    }

    /// Applies the checks to the columns. Keys and references must already be known.
    pub fn apply_checks(&mut self) {
        // Apply column-to-column comparisons last, because they divide up whatever range the other
        // checks leave.
        let (late, early): (Vec<_>, Vec<_>) = std::mem::take(&mut self.checks)
            .into_iter()
            .partition(|(check, _)| checks::has_order(check, &self.columns));
        let unlimited = self.columns.clone();
        for (check, name) in early.into_iter().chain(late) {
            let place = name.and_then(|name| self.place(&name));
            let apply = |columns: &mut [Column]| match place {
                Some(place) => checks::apply(&check, &mut columns[place..=place]),
                None => checks::apply(&check, columns),
            };
            let text = globs::shown(&format!("CHECK ({check})"));
            let before = self.columns.clone();
            if !apply(&mut self.columns) {
                self.columns = before;
                self.broken.push(text);
                continue;
            }
            let mut alone = unlimited.clone();
            apply(&mut alone);
            for place in limited(&unlimited, &alone) {
                self.limited.push((alone[place].clone(), text.clone()));
            }
        }
        for column in &mut self.columns {
            if column.is_beyond() {
                let name = &column.name;
                self.broken
                    .push(format!("the bounds of {name}, beyond which numbers are not exact"));
            }
            if !column.settle() {
                self.broken.push(format!("the checks of {} together", column.name));
            }
        }
    }

    /// Makes key columns unique.
    pub fn mark_keys(&mut self) {
        for name in self.key.clone() {
            if let Some(column) = self.find(&name) {
                column.required = true;
            }
        }
        if let [only] = &*self.key.clone()
            && let Some(column) = self.find(only)
        {
            column.is_key = true;
        }
        for columns in self.unique.clone() {
            let [only] = &*columns else { continue };
            match self.find(only) {
                Some(column) => column.unique = true,
                None => self.broken.push(format!("UNIQUE ({only})")),
            }
        }
    }

    /// Records which columns should be unique or non-null but can't be.
    pub fn note_repeats(&mut self) {
        let null = Stored::Known(json!({"type": "constant", "value": null}));
        for column in &self.columns {
            if column.required && column.stored == null && column.refers.is_none() {
                self.broken.push(format!("NOT NULL of {}, whose type has no strings", column.name));
                continue;
            }
            if (column.unique || column.is_key) && !column.can_be_unique() {
                self.broken.push(format!("UNIQUE ({})", column.name));
            }
        }
    }

    /// Marks a column such as `state` as a status if the table doesn't have any address columns.
    pub fn mark_states(&mut self) {
        if self.columns.iter().all(|column| !is_address(&column.name)) {
            for column in self.columns.iter_mut().filter(|column| is_state(&column.name)) {
                column.is_status = true;
            }
        }
    }

    /// Returns the column combinations that must be unique.
    pub fn sets(&mut self, distinct: &Distinct) -> Vec<Vec<String>> {
        let mut wanted: Vec<_> = std::iter::once(&self.key).chain(&self.unique).cloned().collect();
        wanted.retain(|set| set.len() > 1);
        // If a set is unique, any larger set that contains it is unique, too.
        wanted.sort_by_key(Vec::len);
        let mut sets: Vec<Vec<String>> = Vec::new();
        for names in wanted {
            let places: Option<Vec<_>> = names.iter().map(|name| self.place(name)).collect();
            let columns: Vec<_> =
                places.iter().flatten().map(|place| &self.columns[*place]).collect();
            let name_of = |column: &&Column| column.name.clone();
            let own: Vec<_> = columns.iter().map(name_of).collect();
            if columns.iter().any(|column| column.unique || column.is_key)
                || sets.iter().any(|set| set.iter().all(|name| own.contains(name)))
            {
                continue;
            }
            // Combining just the columns whose values can be chosen freely is enough.
            let is_own =
                |column: &&&Column| column.refers.as_ref().is_none_or(|(to, _)| *to != self.name);
            // Different rows only help if their referenced values differ, or if the set also
            // contains columns that follow the reference.
            let has_follower = |column: &Column| {
                let follows = |other: &&Column| other.with.as_ref() == Some(&column.name);
                columns.iter().any(follows)
            };
            let is_distinct = |column: &Column| {
                let mut target = column.refers.iter();
                target.all(|target| distinct.contains(target)) || has_follower(column)
            };
            let free = columns.iter().filter(is_own).filter(|column| {
                let is_taken = column.is_combined || column.after.is_some() || column.is_null;
                column.can_be_unique() && !is_taken && column.with.is_none() && is_distinct(column)
            });
            let free: Vec<_> = free.map(name_of).collect();
            let follows =
                |column: &&&Column| column.with.as_ref().is_some_and(|first| free.contains(first));
            let followers: Vec<_> = columns.iter().filter(follows).map(name_of).collect();
            if places.is_none() || free.is_empty() {
                self.broken.push(format!("UNIQUE ({})", names.join(", ")));
                continue;
            }
            for name in &free {
                if let Some(column) = self.find(name) {
                    (column.unique, column.is_combined) = (free.len() == 1, free.len() > 1);
                }
            }
            if free.len() > 1 {
                sets.push([free, followers].concat());
            }
        }
        sets
    }
}

/// Returns whether `name` is a valid field name.
pub fn is_name(name: &str) -> bool {
    let is_wrong = |letter: char| letter.is_control() || letter == '"';
    (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.contains(is_wrong)
}

/// Returns the positions of the foreign key columns that a check changes.
fn limited(before: &[Column], after: &[Column]) -> Vec<usize> {
    let is_limited = |place: &usize| {
        let (before, after) = (&before[*place], &after[*place]);
        after.refers.is_some()
            && !(before.choices == after.choices
                && before.stored == after.stored
                && before.days == after.days
                && before.regex == after.regex
                && before.after == after.after
                && (before.least, before.most) == (after.least, after.most)
                && before.shortest == after.shortest
                && (before.is_upper, before.is_lower) == (after.is_upper, after.is_lower))
    };
    (0..after.len()).filter(is_limited).collect()
}
