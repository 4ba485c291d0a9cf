//! Parses fields that contain other fields.

use serde_json::Value;

use super::field::{Field, FieldKey, Make};
use super::kinds::choice::sums;
use super::kinds::derived::{Array, Distinct, Object, OneOf};
use super::members::Members;
use super::parse::{Builder, Place, UNIQUE};
use super::tables::{RawField, raw_fields};

/// Maximum nesting depth of objects, arrays and alternatives.
const DEEPEST: usize = 4;
/// Maximum number of alternatives.
const ALTERNATIVES: usize = 100;

impl<'a> Builder<'a> {
    /// Reads the type `object`: `fields`.
    pub(super) fn object(
        &mut self,
        members: &mut Members<'a>,
        at: &Place<'_>,
    ) -> Option<Box<dyn Make>> {
        let fields = members.required("fields", &mut self.faults).and_then(Value::as_array);
        let pointer = members.at("fields");
        if self.is_too_deep(at, &pointer) {
            return None;
        }
        let Some(fields) = fields.filter(|fields| fields.len() <= self.bounds.most_fields) else {
            let most = self.bounds.most_fields;
            self.faults.add(pointer, format!("must be an array of at most {most} fields"));
            return None;
        };
        let before = self.faults.count();
        let raw = raw_fields(fields, &pointer, &mut self.faults);
        let mut read = Vec::new();
        for field in raw {
            let path = format!("{}/{}", at.path, field.name);
            let depth = at.depth + 1;
            let at = Place { table: at.table, path: &path, depth, items: at.items };
            read.extend(self.read(&field, &at));
        }
        (self.faults.count() == before).then(|| Box::new(Object(read)) as _)
    }

    /// Reads the type `array`: `items` (a field), `min` (1), `max` (3) and `distinct` (false).
    pub(super) fn array(
        &mut self,
        members: &mut Members<'a>,
        at: &Place<'_>,
        key: FieldKey,
    ) -> Option<Box<dyn Make>> {
        let value = members.required("items", &mut self.faults);
        let pointer = members.at("items");
        let least = members.integer("min", 1, (0, 100), &mut self.faults);
        let most = members.integer("max", least.max(3), (1, 100), &mut self.faults);
        let is_distinct = members.flag("distinct", &mut self.faults);
        let is_ordered = least <= most;
        if !is_ordered {
            self.faults.add(members.at("max"), "must be at least min");
        }
        let value = value?;
        if self.is_too_deep(at, &pointer) {
            return None;
        }
        let path = format!("{}/items", at.path);
        let raw = RawField { pointer: pointer.clone(), name: "items", value };
        let depth = at.depth + 1;
        let (least, most) = (least.unsigned_abs(), most.max(least).unsigned_abs());
        let items = Some(at.items.unwrap_or(1).saturating_mul(most));
        let item = Place { table: at.table, path: &path, depth, items };
        let item = self.read(&raw, &item)?;
        self.cost = self.cost.saturating_add(item.cost.saturating_mul(most.saturating_sub(1)));
        let distinct = match is_distinct {
            true => self.distinct_items(&item, most, key, pointer)?,
            false => None,
        };
        is_ordered.then(|| Box::new(Array { item, least, most, distinct }) as _)
    }

    /// Returns how to choose distinct items. `Some(None)` means that items are always distinct, and
    /// `None` that there was an error.
    fn distinct_items(
        &mut self,
        item: &Field,
        most: u64,
        key: FieldKey,
        pointer: String,
    ) -> Option<Option<Distinct>> {
        if item.nulls > 0 {
            self.faults
                .add(format!("{pointer}/nulls"), "must be omitted, because all nulls are the same");
            return None;
        }
        if item.make.is_unique() {
            return Some(None);
        }
        let Some(space) = item.make.space().filter(|_| item.make.is_distinct()) else {
            let text = format!("cannot be guaranteed to be distinct; only {UNIQUE} can");
            self.faults.add(pointer, text);
            return None;
        };
        if space < most {
            let text = format!("is impossible: there are {space} values for {most} distinct items");
            self.faults.add(pointer, text);
            return None;
        }
        Some(Some(Distinct { key: key.part(1), space }))
    }

    /// Reads the type `oneOf`: `fields` (without names), and either `weights` (equal) or `by` (a
    /// field that contains the number of the alternative).
    pub(super) fn one_of(
        &mut self,
        members: &mut Members<'a>,
        at: &Place<'_>,
    ) -> Option<Box<dyn Make>> {
        let before = self.faults.count();
        let fields = members.required("fields", &mut self.faults).and_then(Value::as_array);
        let fields = fields.filter(|fields| (1..=ALTERNATIVES).contains(&fields.len()));
        let (pointer, has_weights) = (members.at("fields"), members.value("weights").is_some());
        if fields.is_none() {
            let text = format!("must be an array of 1 to {ALTERNATIVES} fields");
            self.faults.add(&pointer, text);
        }
        let sums = fields.and_then(|fields| sums(members, fields.len(), &mut self.faults));
        let by = members.text("by", &mut self.faults);
        if by.is_some() && has_weights {
            let text = "must be omitted, because by chooses the alternative";
            self.faults.add(members.at("weights"), text);
        }
        let by = by.and_then(|name| self.named(at.table, name, &members.at("by")));
        if self.is_too_deep(at, &pointer) {
            return None;
        }
        let mut read = Vec::new();
        for (place, value) in fields.into_iter().flatten().enumerate() {
            let path = format!("{}/{place}", at.path);
            let raw = RawField { pointer: format!("{pointer}/{place}"), name: "oneOf", value };
            let depth = at.depth + 1;
            let at = Place { table: at.table, path: &path, depth, items: at.items };
            read.extend(self.read(&raw, &at));
        }
        let items = at.items.unwrap_or(1);
        let sums = sums?;
        let is_whole = self.faults.count() == before;
        is_whole.then(|| Box::new(OneOf { fields: read, sums, by, items }) as _)
    }

    /// Returns whether the field's inner fields would be nested too deeply. If so, reports an
    /// error.
    fn is_too_deep(&mut self, at: &Place<'_>, pointer: &str) -> bool {
        if at.depth == DEEPEST {
            self.faults.add(pointer, format!("must not be nested more than {DEEPEST} levels deep"));
        }
        at.depth == DEEPEST
    }
}
