//! Proposes schema tables that match the tables of an existing database.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use sqlparser::ast::Expr;

use super::column::{Column, Stored};
use super::mentioned::mention;
use super::names::{is_address, is_state};
use super::{checks, globs, qualified};

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

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the position of each column, by lower-case name.
    fn places(&self) -> HashMap<String, usize> {
        let mut places = HashMap::new();
        for (place, column) in self.columns.iter().enumerate() {
            places.entry(column.name.to_ascii_lowercase()).or_insert(place);
        }
        places
    }

    /// Returns the positions of the columns to which a check applies. `name` is the column whose
    /// domain has the check, if any.
    fn places_of(
        &self,
        check: &Expr,
        name: Option<&str>,
        known: &HashMap<String, usize>,
    ) -> Vec<usize> {
        let place = |name: &str| known.get(&name.to_ascii_lowercase()).copied();
        if let Some(place) = name.and_then(place) {
            return vec![place];
        }
        let mut names = Vec::new();
        mention(check, &mut names);
        let mut places: Vec<_> = names.into_iter().filter_map(place).collect();
        places.sort_unstable();
        places.dedup();
        // With another column, VALUE doesn't mean the only one, as it does in a domain.
        if let [only] = places[..]
            && self.columns.len() > 1
        {
            places.push(usize::from(only == 0));
        }
        places
    }

    fn copies(&self, places: &[usize]) -> Vec<Column> {
        places.iter().map(|place| self.columns[*place].clone()).collect()
    }

    /// Removes columns whose names aren't valid field names.
    fn leave_out_names(&mut self) {
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
    fn apply_checks(&mut self) {
        // Apply column-to-column comparisons last, because they divide up whatever range the other
        // checks leave.
        let (all, known) = (std::mem::take(&mut self.checks), self.places());
        let all = all.into_iter().map(|(check, name)| {
            let places = self.places_of(&check, name.as_deref(), &known);
            (check, places)
        });
        let (late, early): (Vec<_>, Vec<_>) =
            all.partition(|(check, places)| checks::has_order(check, &self.copies(places)));
        let unlimited = self.columns.clone();
        for (check, places) in early.into_iter().chain(late) {
            let text = globs::shown(&format!("CHECK ({check})"));
            let mut own = self.copies(&places);
            if !checks::apply(&check, &mut own) || !self.replace(&places, own) {
                self.broken.push(text);
                continue;
            }
            let before: Vec<_> = places.iter().map(|place| unlimited[*place].clone()).collect();
            let mut alone = before.clone();
            checks::apply(&check, &mut alone);
            for place in limited(&before, &alone) {
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
    fn mark_keys(&mut self) {
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
        let known = self.places();
        for columns in &self.unique {
            let [only] = columns.as_slice() else { continue };
            match known.get(&only.to_ascii_lowercase()) {
                Some(place) => self.columns[*place].unique = true,
                None => self.broken.push(format!("UNIQUE ({only})")),
            }
        }
    }

    /// Records which columns should be unique or non-null but can't be.
    fn note_repeats(&mut self) {
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
    fn mark_states(&mut self) {
        if self.columns.iter().all(|column| !is_address(&column.name)) {
            for column in self.columns.iter_mut().filter(|column| is_state(&column.name)) {
                column.is_status = true;
            }
        }
    }

    /// Returns the column combinations that must be unique.
    fn sets(&mut self, distinct: &Distinct) -> Vec<Vec<String>> {
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

/// Finds a table by name.
pub fn named<'t>(tables: &'t mut [Existing], name: &str) -> Option<&'t mut Existing> {
    let place = qualified::find(tables.iter().map(|table| table.name.as_str()), name)?;
    tables.get_mut(place)
}

/// Proposes a schema for the given tables. Also returns the constraints that rows may violate.
pub fn proposed(mut tables: Vec<Existing>) -> (Value, Vec<String>) {
    for table in &mut tables {
        table.leave_out_names();
        table.mark_states();
    }
    resolve(&mut tables);
    for table in &mut tables {
        table.mark_keys();
        table.apply_checks();
        table.note_repeats();
    }
    Existing::note_limited(&mut tables);
    let mut tables = in_order(tables);
    let (mut made, mut broken, mut limits) = (Vec::new(), Vec::new(), HashMap::new());
    let mut distinct = Distinct::new();
    for table in &mut tables {
        table.choose_once(&distinct);
        let sets = table.sets(&distinct);
        table.add_distinct(&mut distinct);
        for column in table.columns.iter().filter(|column| column.has_wrong_offset()) {
            table.broken.push(format!("the type of {}, which has no offset", column.name));
        }
        let limit = limit(table, &sets, &limits);
        let names: HashSet<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let fields: Vec<_> =
            table.columns.iter().flat_map(|column| column.fields(&table.name, &names)).collect();
        let mut proposed = json!({"name": table.name, "fields": fields});
        if let Some(rows) = limit {
            proposed["maxRows"] = rows.into();
            limits.insert(table.name.clone(), rows);
        }
        match &*sets {
            [] => {}
            [pair] if pair.len() == 2 => proposed["uniquePair"] = json!(pair),
            sets => proposed["uniqueTogether"] = json!(sets),
        }
        made.push(proposed);
        broken.extend(table.broken.iter().map(|text| format!("{}: {text}", table.name)));
    }
    (json!({"tables": made}), broken)
}

/// Returns whether `name` is a valid field name.
pub fn is_name(name: &str) -> bool {
    let is_wrong = |letter: char| letter.is_control() || letter == '"';
    (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.contains(is_wrong)
}

/// Row limits from this number up don't matter in practice.
const PLENTY: u64 = 1_000_000;

/// Returns the number of rows after which the table's unique columns run out of values, or `None`
/// if there are plenty.
fn limit(table: &Existing, sets: &[Vec<String>], limits: &HashMap<String, u64>) -> Option<u64> {
    let count = |column: &Column| column.count(|name| limits.get(name).copied());
    let alone = table.columns.iter().filter(|column| column.unique || column.is_key);
    let together = sets.iter().filter_map(|set| {
        let is_own = |column: &&Column| set.contains(&column.name) && column.with.is_none();
        table
            .columns
            .iter()
            .filter(is_own)
            .map(count)
            .try_fold(1_u64, |all, count| Some(all.saturating_mul(count?)))
    });
    alone.filter_map(count).chain(together).filter(|rows| *rows < PLENTY).min()
}

/// A table that can be referred to.
struct Target {
    name: String,
    key: Vec<String>,
    columns: Vec<String>,
}

impl Target {
    fn of(table: &Existing) -> Self {
        let first = table.columns.iter().find(|column| column.is_key).or(table.columns.first());
        let first = first.map(|column| column.name.clone()).into_iter().collect::<Vec<_>>();
        let columns = table.columns.iter().map(|column| column.name.clone()).collect();
        let key = if table.key.is_empty() { first } else { table.key.clone() };
        let mut target = Self { name: table.name.clone(), key: Vec::new(), columns };
        target.key = key.iter().filter_map(|name| target.column(name)).collect();
        target
    }

    /// Returns the name of a column as it is spelled in the table.
    fn column(&self, name: &str) -> Option<String> {
        self.columns.iter().find(|own| own.eq_ignore_ascii_case(name)).cloned()
    }

    /// Finds a table by name.
    fn find<'t>(targets: &'t [Self], name: &str) -> Option<&'t Self> {
        let place = qualified::find(targets.iter().map(|target| target.name.as_str()), name)?;
        targets.get(place)
    }
}

/// Resolves each reference to its target columns, and marks those as required.
fn resolve(tables: &mut [Existing]) {
    let known: Vec<_> = tables.iter().map(Target::of).collect();
    let mut referred = Vec::new();
    for table in tables.iter_mut() {
        for column in &mut table.columns {
            let Some((name, target)) = column.refers.take() else { continue };
            let Some(to) = Target::find(&known, &name) else {
                table.broken.push(absent(&column.name, &name));
                continue;
            };
            let found =
                if target.is_empty() { to.key.first().cloned() } else { to.column(&target) };
            let Some(found) = found else {
                table.broken.push(format!("FOREIGN KEY ({}) to {name} ({target})", column.name));
                continue;
            };
            referred.push((to.name.clone(), found.clone()));
            column.refers = Some((to.name.clone(), found));
        }
        // If a column is part of several foreign keys, the one with the most columns implies the
        // others.
        let mut references = table.references.clone();
        references.sort_by_key(|reference| std::cmp::Reverse(reference.columns.len()));
        for Reference { mut columns, table: name, targets } in references {
            let Some(to) = Target::find(&known, &name) else {
                table.broken.push(absent(&columns.join(", "), &name));
                continue;
            };
            let name = to.name.clone();
            let targets = match targets.is_empty() {
                true => to.key.clone(),
                false => targets.iter().filter_map(|target| to.column(target)).collect(),
            };
            for own in &mut columns {
                if let Some(place) = table.place(own) {
                    own.clone_from(&table.columns[place].name);
                }
            }
            // A column might be missing because it is computed by the database.
            if columns.len() != targets.len()
                || columns.iter().any(|own| table.place(own).is_none())
            {
                table.broken.push(format!("FOREIGN KEY ({})", columns.join(", ")));
                continue;
            }
            let is_taken = |name: &String| {
                table.place(name).is_some_and(|place| table.columns[place].refers.is_some())
            };
            let free: Vec<_> =
                columns.iter().zip(&targets).filter(|(own, _)| !is_taken(own)).collect();
            if free.len() < columns.len() {
                if !free.is_empty() || columns.len() > 1 || targets.is_empty() {
                    table.broken.push(format!("FOREIGN KEY ({})", columns.join(", ")));
                }
                continue;
            }
            let required = free.iter().any(|(own, _)| {
                table.place(own).is_some_and(|place| table.columns[place].required)
            });
            for (own, target) in free {
                let with = columns.first().filter(|first| *first != own).cloned();
                referred.push((name.clone(), target.clone()));
                if let Some(column) = table.find(own) {
                    column.refers = Some((name.clone(), target.clone()));
                    column.with = with;
                    // The columns of a composite foreign key are either all null or all non-null.
                    column.required |= required;
                }
            }
        }
    }
    for (table, column) in referred {
        let table = tables.iter_mut().find(|own| own.name == table);
        if let Some(column) = table.and_then(|table| table.find(&column)) {
            column.required = true;
        }
    }
}

/// Describes a reference to a table that the file doesn't create, so that we don't know its keys.
fn absent(columns: &str, table: &str) -> String {
    format!("FOREIGN KEY ({columns}) to {table}, which is not in the file")
}

/// Sorts the tables so that each one comes after the tables it references. Breaks cycles by setting
/// nullable references to null.
fn in_order(mut left: Vec<Existing>) -> Vec<Existing> {
    let mut ordered: Vec<Existing> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    while !left.is_empty() {
        let waits = |column: &Column, table: &Existing| {
            column.refers.as_ref().is_some_and(|(name, _)| {
                !column.is_null && *name != table.name && !known.contains(name)
            })
        };
        let is_free = |table: &Existing, is_enough: fn(&Column) -> bool| {
            table.columns.iter().all(|column| !waits(column, table) || is_enough(column))
        };
        let next = left.iter().position(|table| is_free(table, |_| false));
        let next = next.or_else(|| {
            left.iter()
                .position(|table| is_free(table, |column| !column.required && !column.is_key))
        });
        let is_cycle = next.is_none();
        let mut table = left.remove(next.unwrap_or(0));
        let late: Vec<_> = table.columns.iter().map(|column| waits(column, &table)).collect();
        for (column, is_late) in table.columns.iter_mut().zip(late) {
            column.is_null |= is_late && !column.required && !column.is_key;
        }
        if is_cycle {
            table.broken.push("FOREIGN KEY to a later table, because of a cycle".to_owned());
        }
        known.insert(table.name.clone());
        ordered.push(table);
    }
    ordered
}

/// Returns the positions of the foreign key columns that a check changes.
fn limited(before: &[Column], after: &[Column]) -> Vec<usize> {
    let is_limited = |place: &usize| {
        let (before, after) = (&before[*place], &after[*place]);
        after.refers.is_some()
            && !((&before.choices, &before.excluded) == (&after.choices, &after.excluded)
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
