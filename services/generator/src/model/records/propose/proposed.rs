//! Proposes the tables of a schema that match existing tables: resolves their references, and sorts
//! and limits them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::column::Column;
use super::existing::{Distinct, Existing, Reference};
use super::qualified;

/// Proposes a schema for the given tables. Also returns the constraints that rows might violate.
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
        let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
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
    while !left.is_empty() {
        let waits = |column: &Column, table: &Existing| {
            column.refers.as_ref().is_some_and(|(name, _)| {
                !column.is_null
                    && *name != table.name
                    && ordered.iter().all(|before| before.name != *name)
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
        ordered.push(table);
    }
    ordered
}
