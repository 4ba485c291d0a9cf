//! Makes `oneOf` branches mutually exclusive, so that a generated value matches exactly one of
//! them.

use std::cell::OnceCell;

use serde_json::{Map, Value, json};

use super::json_schema::{Reader, kind};
use super::objects::required;
use super::satisfied::satisfies;

/// How deep to compare properties. Discriminators are usually at the top level.
const DEEPEST: usize = 1;

/// A resolved schema, and its properties once they have been used. Each branch is compared with all
/// others.
struct Branch {
    schema: Value,
    properties: OnceCell<Map<String, Value>>,
}

impl Reader<'_> {
    /// Removes properties from branches so that a value generated for one branch can't also match
    /// another. Reports branches that might still overlap.
    pub fn set_apart(&self, name: &str, variants: &mut [Value]) {
        let branches: Vec<_> = variants.iter().map(|variant| self.branch(variant)).collect();
        let mut overlaps = false;
        for (place, own) in branches.iter().enumerate() {
            let others = branches.iter().enumerate().filter(|(other, _)| *other != place);
            for (_, other) in others {
                if !self.can_satisfy(own, other, 0) {
                    continue;
                }
                let needs = |name: &&str| !required(&own.schema).any(|own| own == *name);
                let parts = variants[place]["allOf"].as_array_mut();
                match (required(&other.schema).find(needs), parts) {
                    (Some(absent), Some(parts)) => {
                        parts.push(json!({"properties": {(absent): false}}));
                    }
                    _ => overlaps = true,
                }
            }
        }
        if overlaps {
            self.note(format!("the constraint oneOf of {name}, whose alternatives overlap"));
        }
    }

    fn branch(&self, schema: &Value) -> Branch {
        Branch { schema: self.resolved(schema), properties: OnceCell::new() }
    }

    fn properties_of<'b>(&self, branch: &'b Branch) -> &'b Map<String, Value> {
        branch.properties.get_or_init(|| self.properties(&branch.schema))
    }

    /// Returns whether a value generated for `this` could match `that`.
    fn can_satisfy(&self, this: &Branch, that: &Branch, depth: usize) -> bool {
        let (own, other) = (&this.schema, &that.schema);
        if let Some(mut choices) = choices(own) {
            return choices.any(|choice| satisfies(other, choice));
        }
        if let Some(mut choices) = choices(other) {
            return choices.any(|choice| satisfies(own, choice));
        }
        let kinds = (kind(own), kind(other));
        match (kinds.0.as_str(), kinds.1.as_str()) {
            ("object", "object" | "") => self.can_be(this, that, depth),
            ("integer", "number") | ("number", "integer") => is_near(own, other),
            (own_kind, kind) => {
                (own_kind == kind || own_kind.is_empty() || kind.is_empty()) && is_near(own, other)
            }
        }
    }

    /// Like [`can_satisfy`](Self::can_satisfy), but for objects. Generated objects have all of
    /// their own properties and never any others.
    fn can_be(&self, this: &Branch, that: &Branch, depth: usize) -> bool {
        let (all, others) = (self.properties_of(this), self.properties_of(that));
        let other = &that.schema;
        if required(other).any(|name| !all.contains_key(name)) {
            return false;
        }
        let is_closed = other["additionalProperties"] == false;
        all.iter().all(|(name, property)| match others.get(name) {
            Some(more) if depth < DEEPEST && property != more => {
                self.can_satisfy(&self.branch(property), &self.branch(more), depth + 1)
            }
            Some(_) => true,
            None => !is_closed && other["properties"][name] != false,
        })
    }
}

/// Returns the values that a `const` or `enum` allows.
fn choices(schema: &Value) -> Option<impl Iterator<Item = &Value>> {
    let constant = schema.get("const").map(std::slice::from_ref);
    constant.or(schema["enum"].as_array().map(Vec::as_slice)).map(<[Value]>::iter)
}

/// Returns whether the bounds and lengths of two schemas overlap.
fn is_near(own: &Value, other: &Value) -> bool {
    let sizes = [["minimum", "maximum"], ["minLength", "maxLength"], ["minItems", "maxItems"]];
    let is_below = |low: &Value, high: &Value, [least, most]: [&str; 2]| {
        let bounds = low[most].as_f64().zip(high[least].as_f64());
        bounds.is_some_and(|(most, least)| most < least)
    };
    let is_apart = |names: [&str; 2]| is_below(own, other, names) || is_below(other, own, names);
    // Ranges that meet at a common bound don't overlap if either of them excludes it.
    let touches = |low: &Value, high: &Value| {
        let ends = |inner: &str, outer: &str| {
            low[inner].as_f64().zip(high[outer].as_f64()).is_some_and(|(low, high)| low <= high)
        };
        ends("exclusiveMaximum", "minimum")
            || ends("maximum", "exclusiveMinimum")
            || ends("exclusiveMaximum", "exclusiveMinimum")
    };
    !sizes.into_iter().any(is_apart) && !touches(own, other) && !touches(other, own)
}
