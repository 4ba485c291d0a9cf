//! Parses references, and makes field combinations unique.

use std::rc::Rc;

use serde_json::Value;

use super::field::{Digit, FieldKey, Make, SharedField};
use super::kinds::derived::{Choosing, Reference};
use super::members::Members;
use super::parse::{Builder, Place, UNIQUE};

/// Maximum number of combinations.
const COMBINATIONS: u64 = 1 << 62;

impl<'a> Builder<'a> {
    /// Reads the `with` member of a reference, which names another reference in the same row. Both
    /// then refer to the row that the other one picks. Returns `None` if there was an error.
    pub(super) fn followed(
        &mut self,
        members: &mut Members<'a>,
        at: &Place<'_>,
    ) -> Option<Option<SharedField>> {
        let Some(with) = members.text("with", &mut self.faults) else { return Some(None) };
        let pointer = members.at("with");
        let own = &self.tables[at.table];
        let target = |field: &Value| field["table"].as_str().unwrap_or(&own.name).to_owned();
        let field = own.field(with).filter(|_| with != at.path);
        let is_right = field.is_some_and(|field| {
            let is_reference = field.value["type"] == "reference" && field.value["with"].is_null();
            let own_target = members.value("table").and_then(Value::as_str).unwrap_or(&own.name);
            at.depth == 0 && is_reference && target(field.value) == own_target
        });
        let Some(field) = field.filter(|_| is_right) else {
            let text = "must be the name of another reference to the same table, without with";
            self.faults.add(pointer, text);
            return None;
        };
        for name in ["choose", "nulls", "unique"] {
            if members.value(name).is_some() {
                self.faults
                    .add(members.at(name), format!("must be omitted: the one from {with} is used"));
            }
        }
        let own = own.field(at.path)?;
        self.followers.push((at.table, own.name, field.name));
        Some(Some(self.named(at.table, with, &pointer)?))
    }

    /// Reads the type `reference`: `table`, `field`, `choose` (uniform, skewed or once; default:
    /// uniform), and `with`.
    pub(super) fn reference(
        &mut self,
        members: &mut Members<'a>,
        at: &Place<'_>,
        key: FieldKey,
    ) -> Option<Box<dyn Make>> {
        let own = &self.tables[at.table];
        members.required("field", &mut self.faults);
        let name = members.text("field", &mut self.faults);
        let target = match members.value("table") {
            Some(_) => members.text("table", &mut self.faults),
            None => Some(own.name.as_str()),
        };
        let ways = [("uniform", 0), ("skewed", 1), ("once", 2)];
        let mut way = members.word("choose", &ways, &mut self.faults);
        let with = members.value("with").and_then(Value::as_str);
        if let Some(first) = with.and_then(|with| own.field(with)) {
            // Discard the other field's errors, because they are reported when it is read itself.
            let chosen = first.value["choose"].as_str();
            let word = ways.iter().find(|(word, _)| Some(*word) == chosen);
            way = Some(word.map_or(0, |(_, way)| *way));
        }
        let target = target?;
        let Some(table) = self.tables.iter().position(|table| table.name == target) else {
            let known: Vec<_> = self.tables.iter().map(|table| table.name.as_str()).collect();
            let text = format!("must be one of {}", known.join(", "));
            self.faults.add(members.at("table"), text);
            return None;
        };
        self.references.push((at.table, table));
        let before = self.faults.count();
        let field = self.named(table, name?, &members.at("field"));
        let (rows, has_rows) = (self.tables[table].rows, self.tables[table].has_rows);
        if self.bounds.is_part && !has_rows && table != at.table {
            let pointer = format!("{}/rows", self.tables[table].pointer);
            let text = "is required to skip rows, because references choose among all rows";
            self.faults.add(pointer, text);
        }
        if field.as_ref().is_some_and(|field| field.has_nulls()) {
            self.faults.add(members.at("field"), "has nulls, which cannot be referred to");
        }
        let is_child = own.children.as_ref().is_some_and(|children| children.table == table);
        if at.items.is_some() && (is_child || table == at.table) {
            let text = "must refer to a table other than its own and its parent, in an array";
            self.faults.add(members.at("table"), text);
        }
        let (field, way) = (field?, way?);
        if self.faults.count() > before {
            return None;
        }
        let choosing = if table == at.table {
            if way == 2 { Choosing::Before } else { Choosing::Earlier }
        } else if let Some(children) =
            own.children.as_ref().filter(|children| children.table == table)
        {
            Choosing::Parent(Rc::clone(children))
        } else if rows == 0 {
            self.faults.add(members.at("table"), format!("{target} has no rows"));
            return None;
        } else {
            match way {
                0 => Choosing::Uniform,
                1 => Choosing::Skewed,
                _ if own.rows.saturating_mul(at.items.unwrap_or(1)) > rows => {
                    let wanted = own.rows.saturating_mul(at.items.unwrap_or(1));
                    let text = format!("is impossible: {target} has {rows} rows for {wanted}");
                    self.faults.add(members.at("choose"), text);
                    return None;
                }
                _ => Choosing::Once(key.permutation(rows)),
            }
        };
        Some(Box::new(Reference { field, rows, choosing }))
    }

    /// Ensures that the field combinations in `uniquePair` and `uniqueTogether` are unique. All
    /// fields must have been parsed before.
    pub(super) fn combine(&mut self) {
        let tables = self.tables;
        for (place, table) in tables.iter().enumerate() {
            for set in &table.sets {
                let is_missing = |name: &&&str| table.place(name).is_none();
                let mut missing = set.names.iter().filter(is_missing).peekable();
                if missing.peek().is_some() {
                    for name in missing {
                        let text = format!("the table does not have a field {name}");
                        self.faults.add(&set.pointer, text);
                    }
                } else if let Some(text) = self.number(place, &set.names) {
                    self.faults.add(&set.pointer, text);
                }
            }
        }
        for (table, name, first) in std::mem::take(&mut self.followers) {
            let (Some(field), Some(first)) = (self.known(table, name), self.known(table, first))
            else {
                continue;
            };
            if let Some(digit) = first.digit.get() {
                // This can't fail, because a field follows at most one other field.
                let _ = field.digit.set(*digit);
            }
        }
    }

    /// Numbers the combinations of several fields in a table. Returns an error message, if any.
    fn number(&self, table: usize, names: &[&str]) -> Option<String> {
        let own = &self.tables[table];
        let is_follower = |name: &str| {
            self.followers
                .iter()
                .any(|(place, own, first)| *place == table && *own == name && names.contains(first))
        };
        let mut fields = Vec::new();
        for name in names.iter().filter(|name| !is_follower(name)) {
            // Errors in the field have already been reported.
            let field = self.known(table, name)?;
            let is_whole = || {
                let mut firsts = self.followers.iter().filter(|(place, ..)| *place == table);
                firsts.any(|(_, own, first)| first == name && names.contains(own))
            };
            if !field.make.is_distinct() && !is_whole() {
                return Some(format!("{name} refers to a field that is not unique"));
            }
            fields.push(field);
        }
        if fields.iter().any(|field| field.order.is_some() || field.make.is_unique()) {
            return None;
        }
        // Rows with the same parent are consecutive, so the other fields only have to be different
        // for each child of the same parent.
        let runs = fields.iter().filter_map(|field| field.make.longest_run());
        let needed = runs.min().unwrap_or(own.rows).max(1);
        fields.retain(|field| field.make.longest_run().is_none());
        let (mut all, mut spaces) = (1_u64, Vec::new());
        for field in fields {
            let Some(space) = field.make.space() else {
                let name = &field.name;
                return Some(format!("{name} cannot be combined; these can: {UNIQUE}"));
            };
            if field.digit.get().is_some() {
                return Some(format!("{} is in two combinations", field.name));
            }
            let space = match all.checked_mul(space).filter(|all| *all <= COMBINATIONS) {
                Some(_) => space,
                // There are already enough combinations.
                None if all >= needed => break,
                None => COMBINATIONS / all,
            };
            all *= space;
            spaces.push((field, space));
        }
        if all < needed {
            return Some(format!("is impossible: there are {all} combinations for {needed} rows"));
        }
        let key = FieldKey::new(&self.bounds.seed, &own.name, &names.join(" "));
        let (order, mut stride) = (key.permutation(all), 1);
        for (field, space) in spaces.into_iter().rev() {
            // This can't fail, because no field is in more than one combination.
            let _ = field.digit.set(Digit { order, all, stride, space });
            stride *= space;
        }
        None
    }
}
