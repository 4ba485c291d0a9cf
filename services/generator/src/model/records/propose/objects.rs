//! The properties of objects in JSON Schemas.

use std::collections::HashSet;

use regex_automata::meta::Regex;
use serde_json::{Map, Value, json};

use super::json_schema::{Reader, Target, kind};
use super::narrowed::has_members;
use super::satisfied::others;
use super::sizes::size;

/// How much longer it takes to parse a pattern than to copy a short value.
const COST_OF_A_PATTERN: usize = 1_000;

impl Reader<'_> {
    /// Returns the properties to generate for an object, each with all schemas that apply to it.
    /// This includes properties that are required but not declared, and excludes properties whose
    /// schema is `false`.
    pub fn properties(&self, schema: &Value) -> Map<String, Value> {
        if self.is_exhausted() {
            return Map::new();
        }
        let mut all = schema["properties"].as_object().cloned().unwrap_or_default();
        self.spend(size(&schema["properties"]));
        let patterns = self.patterns(schema);
        let required: HashSet<_> = required(schema).collect();
        for name in &required {
            let has_pattern = patterns.iter().any(|(regex, _)| regex.is_match(name));
            let other = match &schema["additionalProperties"] {
                Value::Null => json!(true),
                _ if has_pattern => json!(true),
                other => other.clone(),
            };
            all.entry(*name).or_insert(other);
        }
        for (regex, more) in patterns {
            for (_, own) in all.iter_mut().filter(|(name, _)| regex.is_match(name.as_str())) {
                if *own != *more {
                    *own = json!({"allOf": [own.take(), more]});
                }
            }
        }
        all.retain(|name, property| {
            let is_impossible = self.is_impossible(property);
            if is_impossible && required.contains(name.as_str()) {
                self.note(format!("the required property {name}, which its schema forbids"));
            }
            !is_impossible
        });
        if let Some(names) = schema.get("propertyNames") {
            let names = if names.is_boolean() { names.clone() } else { self.resolved(names) };
            let choices = names["enum"].as_array();
            let is_choice = |name: &str| {
                choices.is_none_or(|all| all.iter().any(|own| own.as_str() == Some(name)))
            };
            let is_allowed = others(&names);
            let wrong = |name: &&String| !is_choice(name.as_str()) || !is_allowed(&json!(name));
            for name in all.keys().filter(wrong) {
                self.note(format!("the constraint propertyNames, which {name} does not satisfy"));
            }
        }
        all
    }

    /// Returns the `patternProperties` of an object, and reports patterns that can't be parsed.
    fn patterns<'s>(&self, schema: &'s Value) -> Vec<(Regex, &'s Value)> {
        let patterns = schema["patternProperties"].as_object().into_iter().flatten();
        let patterns = patterns.inspect(|_| self.spend(COST_OF_A_PATTERN));
        let parsed = patterns.filter_map(|(text, property)| match Regex::new(text) {
            Ok(regex) => Some((regex, property)),
            Err(_) => {
                self.note(format!("the pattern {text} of properties, which cannot be parsed"));
                None
            }
        });
        parsed.collect()
    }

    /// Returns facts about a schema. Those of plain references are kept, as a recursive schema needs
    /// them at every level.
    pub fn target(&self, schema: &Value) -> Target {
        let read = || Target {
            kind: kind(&self.outlined(schema)),
            is_impossible: self.allows_nothing(schema),
        };
        let Some(reference) = reference(schema) else { return read() };
        let known = self.targets.borrow().get(reference).cloned();
        known.unwrap_or_else(|| {
            let target = read();
            self.targets.borrow_mut().insert(reference.to_owned(), target.clone());
            target
        })
    }

    /// Returns whether a schema doesn't allow any values because it is `false` or combined with
    /// `false`.
    pub fn is_impossible(&self, schema: &Value) -> bool {
        match reference(schema) {
            Some(_) => self.target(schema).is_impossible,
            None => self.allows_nothing(schema),
        }
    }

    fn allows_nothing(&self, schema: &Value) -> bool {
        if let Some(allows_all) = schema.as_bool() {
            return !allows_all;
        }
        let (whole, ..) = self.combined(schema, true);
        let not = whole.get("not");
        not.is_some_and(|not| *not == true || not.as_object().is_some_and(Map::is_empty))
    }

    /// Returns whether a schema requires objects with members.
    pub fn needs_members(&self, schema: &Value) -> bool {
        let own = self.outlined(schema);
        kind(&own) == "object" && has_members(&own)
    }
}

/// Returns the target of a schema that has no other members than a reference.
fn reference(schema: &Value) -> Option<&str> {
    let members = schema.as_object().filter(|members| members.len() == 1)?;
    members.get("$ref")?.as_str()
}

/// Returns the names of an object's required properties.
pub fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}
