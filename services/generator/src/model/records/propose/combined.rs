//! Combines the JSON Schemas that apply together, and counts the copies that this takes.

use serde_json::{Map, Value, json};

use super::encodings::decoded;
use super::json_schema::Reader;
use super::narrowed::{narrow, outline, rejects_null, without_definitions};
use super::sizes::size;

/// Maximum number of references and `allOf` parts per schema.
const MOST_PARTS: usize = 50;
/// How many levels of nested alternatives to resolve.
const SETS: usize = 50;

/// A combined schema, its alternatives, and whether they come from `oneOf`.
pub type Split = (Map<String, Value>, Vec<Value>, bool);

impl Reader<'_> {
    /// Follows local references and merges `allOf`. Also returns the first set of alternatives
    /// (`anyOf`, `oneOf` or a list of types), and whether they come from `oneOf`. Any further sets
    /// are left in `allOf`. The schema `false` becomes the equivalent `{"not": {}}`.
    pub fn split(&self, schema: &Value) -> Split {
        self.combined(schema, false)
    }

    /// Like [`split`](Self::split). If `is_outline`, the schemas of members and items are empty.
    pub fn combined(&self, schema: &Value, is_outline: bool) -> Split {
        if self.is_exhausted() {
            return Split::default();
        }
        let (mut alternatives, mut others) = (Vec::new(), Vec::new());
        let mut is_one_of = false;
        let (mut whole, mut is_rejected) = (Map::new(), false);
        // The parts to merge, each with a flag for whether an enclosing part allows null.
        let mut left = vec![(self.copy(schema, is_outline), false)];
        // Bounded, because references can be circular.
        for _ in 0..MOST_PARTS {
            if self.is_exhausted() {
                break;
            }
            let Some((part, is_nullable)) = left.pop() else { break };
            let mut part = match part {
                Value::Object(part) => part,
                Value::Bool(false) => {
                    whole.insert("not".to_owned(), json!({}));
                    continue;
                }
                // The schema `true` allows everything.
                _ => continue,
            };
            let is_nullable = is_nullable || part.get("nullable") == Some(&Value::Bool(true));
            is_rejected |= !is_nullable && rejects_null(&part);
            if let Some(target) = part.remove("$ref") {
                let target = target.as_str().unwrap_or_default();
                let found = self.document.pointer(&decoded(target.trim_start_matches('#')));
                match found.filter(|_| target.starts_with('#')) {
                    Some(found) => left.push((self.copy(found, is_outline), is_nullable)),
                    None => self.note(format!("the reference {target}, which is not in the file")),
                }
            }
            if let Some(Value::Array(parts)) = part.remove("allOf") {
                left.extend(parts.into_iter().rev().map(|part| (part, is_nullable)));
            }
            for name in ["anyOf", "oneOf"] {
                let Some(Value::Array(mut parts)) = part.remove(name) else { continue };
                let is_impossible = !parts.is_empty() && parts.iter().all(|part| *part == false);
                parts.retain(|part| *part != false);
                let count = parts.len();
                if parts.iter().all(|part| part["type"] == "null") {
                    parts.truncate(1);
                } else {
                    parts.retain(|part| part["type"] != "null");
                }
                let has_null = parts.len() < count;
                if has_null {
                    part.insert("nullable".to_owned(), true.into());
                }
                let is_nullable = is_nullable || has_null;
                match (parts.len(), alternatives.is_empty()) {
                    _ if is_impossible => left.push((false.into(), is_nullable)),
                    (0 | 1, _) => left.extend(parts.into_iter().map(|part| (part, is_nullable))),
                    (_, true) => (alternatives, is_one_of) = (parts, name == "oneOf"),
                    (_, false) => others.push(json!({ (name): parts })),
                }
            }
            if alternatives.is_empty() && !part.contains_key("enum") && !part.contains_key("const")
            {
                alternatives = several_types(&mut part);
            }
            // An outline doesn't contain the declared properties.
            if !is_outline {
                self.name_forbidden(&whole, &part);
                self.name_forbidden(&part, &whole);
            }
            for (name, value) in part {
                match whole.get_mut(&name) {
                    Some(known) => {
                        if !narrow(&name, known, value) {
                            self.note(format!("a constraint {name} that is given several times"));
                        }
                    }
                    None => {
                        whole.insert(name, value);
                    }
                }
            }
        }
        if is_rejected {
            // The merged schema only allows null if all of its parts do.
            whole.remove("nullable");
            if let Some(Value::Array(kinds)) = whole.get_mut("type") {
                kinds.retain(|kind| kind != "null");
            }
        }
        if !others.is_empty() {
            whole.insert("allOf".to_owned(), others.into());
        }
        (whole, alternatives, is_one_of)
    }

    /// Reports properties that `other` declares but that `closed` forbids, or restricts in another
    /// way, through `additionalProperties`.
    fn name_forbidden(&self, closed: &Map<String, Value>, other: &Map<String, Value>) {
        let rest = closed
            .get("additionalProperties")
            .filter(|_| !closed.contains_key("patternProperties"));
        let rest = rest.filter(|rest| **rest != true && **rest != json!({}));
        let (Some(rest), Some(Value::Object(properties))) = (rest, other.get("properties")) else {
            return;
        };
        self.spend(properties.len());
        let declared = closed.get("properties").and_then(Value::as_object);
        let is_declared = |name: &str| declared.is_some_and(|all| all.contains_key(name));
        let is_allowed = |property: &Value| *property == false || property == rest;
        if properties.iter().any(|(name, property)| !is_allowed(property) && !is_declared(name)) {
            self.note("the constraint additionalProperties of combined schemas".to_owned());
        }
    }

    /// Follows local references, merges `allOf`, and picks the first alternative at each level.
    pub fn resolved(&self, schema: &Value) -> Value {
        self.first(self.split(schema), false)
    }

    /// Like [`resolved`](Self::resolved), but the schemas of members and items are empty.
    pub fn outlined(&self, schema: &Value) -> Value {
        self.first(self.combined(schema, true), true)
    }

    /// Picks the first alternative at each level.
    pub fn first(&self, (mut whole, mut alternatives, _): Split, is_outline: bool) -> Value {
        // Bounded, because references can be circular.
        for _ in 0..SETS {
            let Some(first) = alternatives.first() else { break };
            let next = merged(&whole, vec![first.clone()]);
            (whole, alternatives, _) = self.combined(&next, is_outline);
        }
        whole.remove("allOf");
        Value::Object(whole)
    }

    /// Copies a schema, and counts the size of the copy.
    fn copy(&self, schema: &Value, is_outline: bool) -> Value {
        let copy = if is_outline { outline(schema) } else { without_definitions(schema) };
        self.spend(size(&copy));
        copy
    }

    /// Counts the size of a copy, or work that takes as long as a copy of this size.
    pub fn spend(&self, size: usize) {
        self.copied.set(self.copied.get().saturating_add(size));
    }

    /// Returns whether the copies are too large. The proposal is then discarded, so any result
    /// will do.
    pub fn is_exhausted(&self) -> bool {
        self.copied.get() > self.most_copied
    }
}

/// Returns a schema with additional parts at the start of its `allOf`.
pub fn merged(whole: &Map<String, Value>, mut parts: Vec<Value>) -> Value {
    let mut merged = whole.clone();
    if let Some(Value::Array(others)) = merged.remove("allOf") {
        parts.extend(others);
    }
    merged.insert("allOf".to_owned(), parts.into());
    Value::Object(merged)
}

/// Turns a list of types into alternatives, one per type, and removes the list from the schema.
fn several_types(schema: &mut Map<String, Value>) -> Vec<Value> {
    let Some(Value::Array(kinds)) = schema.get("type") else { return Vec::new() };
    let others: Vec<_> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
    if others.len() < 2 {
        return Vec::new();
    }
    if others.len() < kinds.len() {
        schema.insert("nullable".to_owned(), true.into());
    }
    schema.remove("type");
    others.into_iter().map(|kind| json!({ "type": kind })).collect()
}
