//! Proposes schemas for objects described by JSON Schema (draft 2020-12) or OpenAPI.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::column::{Column, Stored};
use super::encodings::{base64, decoded, is_base64};
use super::existing::is_name;
use super::names::by_name;
use super::narrowed::{has_members, may_be_null, narrow, rejects_null, without_definitions};
use super::sample::{distinct, shortened};
use super::schema_numbers::{decimals, integer_multiples, multiples, with_integral_counts};
use crate::model::records::fault::SchemaFault;
use crate::model::records::kinds::pattern;
use crate::model::records::parse::parse;
use crate::model::records::tables::Bounds;
use crate::model::seed::{SEEDED_DAY, Seed};

/// Maximum nesting depth of objects, arrays and references.
const DEEPEST: usize = 4;
/// Maximum number of references and `allOf` parts per schema.
const MOST_PARTS: usize = 50;
/// Maximum numbers of nested properties to try, since recursive schemas have infinitely many. If
/// `records` would reject the proposal, e.g. for too many values per row, we try the next number.
const MOST_NESTED: [usize; 5] = [2_000, 500, 100, 20, 0];
/// Schema keywords that we don't support, so rows might violate them.
const IGNORED: [&str; 5] = ["not", "if", "contains", "dependentSchemas", "dependencies"];
/// Matches some regular expressions.
const REGEX: &str = r"\^(\[a-z\]|\[0-9A-F\]|\\d|\\w)(\+|\*|\{[1-9]\})(-\[0-9\]\{[1-9]\})?\$";
/// Length of the shortest words of placeholder text.
const SHORTEST_WORD: u64 = 1;

/// Proposes a schema for the objects described by a JSON Schema. `component` is the name of a
/// schema in an OpenAPI document or in `$defs`. Also returns the constraints that rows might
/// violate.
///
/// # Errors
/// Returns a description of the missing parts, or the reasons for which `records` refuses the
/// proposal.
pub fn of_json_schema(
    document: &Value,
    component: Option<&str>,
) -> Result<(Value, Vec<String>), String> {
    let mut document = document.clone();
    with_integral_counts(&mut document);
    let mut reasons = String::new();
    for most_nested in MOST_NESTED {
        let made = propose(&document, component, most_nested)?;
        let faults = faults(&made.0)?;
        if faults.is_empty() {
            return Ok(made);
        }
        let lines = faults.iter().map(|fault| format!("\n  {fault}"));
        reasons = lines.collect();
    }
    Err(format!("the proposal would be refused by records:{reasons}"))
}

/// Returns the errors that the `records` command would report for a schema.
fn faults(schema: &Value) -> Result<Vec<SchemaFault>, String> {
    let bounds = Bounds {
        seed: Seed::parse("schema").map_err(|why| why.to_string())?,
        day: SEEDED_DAY,
        is_part: false,
        is_sql: false,
        rows: None,
        most_tables: 1,
        most_fields: 10_000,
        most_rows: u64::MAX,
    };
    Ok(parse(schema, &bounds).err().unwrap_or_default())
}

/// Proposes a schema with at most `most_nested` nested properties, not counting required ones.
fn propose(
    document: &Value,
    component: Option<&str>,
    most_nested: usize,
) -> Result<(Value, Vec<String>), String> {
    let (name, schema) = match component {
        None => ("records", Some(document)),
        Some(name) => {
            let places =
                [&document["components"]["schemas"], &document["$defs"], &document["definitions"]];
            (name, places.into_iter().find_map(|place| place.get(name)))
        }
    };
    let schema =
        schema.ok_or_else(|| format!("the document does not contain a component {name}"))?;
    let reader = Reader {
        document,
        most_nested,
        nested: Cell::new(0),
        broken: RefCell::default(),
        targets: RefCell::default(),
    };
    let mut schema = without_definitions(schema);
    if reader.resolved(&schema)["type"] == "array" {
        schema = reader.resolved(&schema)["items"].take();
    }
    let rows = reader.kinds_of_rows(&schema);
    if rows.is_empty() {
        let known = document["components"]["schemas"].as_object();
        let known = known.map(|all| all.keys().cloned().collect::<Vec<_>>().join(", "));
        return Err(match known {
            Some(names) => format!("choose a component with properties: {names}"),
            None => "the schema does not have any properties".to_owned(),
        });
    }
    let (whole, ..) = reader.split(&schema);
    let title = whole.get("title").and_then(Value::as_str).filter(|_| component.is_none());
    let name = title.unwrap_or(name);
    let fields = reader.fields_of_rows(&rows);
    let mut broken = reader.broken.into_inner();
    if !is_name(name) {
        broken.push(format!("the name {name}, which is too long or has other characters"));
    }
    broken.sort();
    broken.dedup();
    Ok((json!({"name": shortened(name), "fields": fields}), broken))
}

/// Reads the schemas in a document.
pub struct Reader<'a> {
    document: &'a Value,
    /// Once there are this many nested properties, objects and arrays are left empty.
    most_nested: usize,
    /// Number of nested properties so far.
    pub nested: Cell<usize>,
    /// Descriptions of the constraints that rows might violate.
    broken: RefCell<Vec<String>>,
    /// Facts about the schemas that references lead to, by reference.
    pub targets: RefCell<HashMap<String, Target>>,
}

/// Facts about a schema.
#[derive(Clone)]
pub struct Target {
    /// The type of its values, or an empty string.
    pub kind: String,
    /// Whether it doesn't allow any values.
    pub is_impossible: bool,
}

impl Reader<'_> {
    /// Follows local references and merges `allOf`. Also returns the first set of alternatives
    /// (`anyOf`, `oneOf` or a list of types), and whether they come from `oneOf`. Any further sets
    /// are left in `allOf`. The schema `false` becomes the equivalent `{"not": {}}`.
    pub fn split(&self, schema: &Value) -> (Map<String, Value>, Vec<Value>, bool) {
        let (mut alternatives, mut others) = (Vec::new(), Vec::new());
        let mut is_one_of = false;
        let (mut whole, mut is_rejected) = (Map::new(), false);
        // The parts to merge, each with a flag for whether an enclosing part allows null.
        let mut left = vec![(schema.clone(), false)];
        // Bounded, because references can be circular.
        for _ in 0..MOST_PARTS {
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
                    Some(found) => left.push((without_definitions(found), is_nullable)),
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

    pub fn fields(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let properties = self.properties(schema);
        let names = distinct(properties.keys().map(String::as_str));
        let all: Vec<_> = names.iter().map(String::as_str).collect();
        let required = schema["required"].as_array();
        let mut fields = Vec::new();
        for ((name, property), own) in properties.iter().zip(&names) {
            let is_required = required.is_some_and(|names| names.iter().any(|own| own == name));
            if depth > 0 && !is_required && self.is_deepest(depth) {
                let kind = self.target(property).kind;
                if kind == "object" || kind == "array" {
                    continue;
                }
            }
            if own != name {
                self.note(format!("the property {name}, whose name no field can have"));
            }
            let mut column = self.column(name, property, depth);
            column.name.clone_from(own);
            self.nested.set(self.nested.get() + 1);
            match depth {
                0 => fields.extend(column.fields("", &all)),
                // Fields inside an object can't use each other.
                _ => fields.push(column.inner_field()),
            }
        }
        fields
    }

    /// Reports unsupported keywords, because rows might violate them.
    pub fn name_ignored(&self, name: &str, schema: &Map<String, Value>) {
        // Generated objects have all of their properties, so a plain list of names is satisfied.
        let dependencies = schema.get("dependencies").and_then(Value::as_object);
        let are_names = dependencies.is_some_and(|all| all.values().all(Value::is_array));
        for word in IGNORED {
            if schema.contains_key(word) && !(word == "dependencies" && are_names) {
                self.note(format!("the constraint {word} of {name}, which is not followed"));
            }
        }
    }

    pub fn note(&self, text: String) {
        self.broken.borrow_mut().push(text);
    }

    /// Returns whether objects and arrays at this depth must be empty.
    pub fn is_deepest(&self, depth: usize) -> bool {
        depth >= DEEPEST || depth > 0 && self.nested.get() >= self.most_nested
    }

    pub fn column(&self, name: &str, property: &Value, depth: usize) -> Column {
        let (whole, alternatives, is_one_of) = self.split(property);
        self.name_ignored(name, &whole);
        if !alternatives.is_empty() && !self.is_deepest(depth) {
            let mut variants = self.variants(name, &whole, &alternatives);
            if is_one_of {
                self.set_apart(name, &mut variants);
            }
            return self.either(name, &whole, &variants, depth);
        }
        let property = self.resolved(property);
        let mut column = Column::new(name.to_owned(), self.stored(name, &property, depth));
        let shortest = property["minLength"].as_u64().unwrap_or(0);
        column.shortest = u32::try_from(shortest).unwrap_or(u32::MAX);
        // A property that isn't required can be absent, but not null.
        column.required = !may_be_null(&property);
        let bound = |name: &str| property[name].as_f64();
        let step = column.step();
        // In draft 4 and OpenAPI 3.0, these keywords are booleans that make `minimum` and `maximum`
        // exclusive.
        let inner = |name: &str| if property[name] == true { step } else { 0.0 };
        let least = bound("minimum").map(|least| least + inner("exclusiveMinimum"));
        let most = bound("maximum").map(|most| most - inner("exclusiveMaximum"));
        let above = bound("exclusiveMinimum").map(|least| least + step);
        let below = bound("exclusiveMaximum").map(|most| most - step);
        column.least = least.into_iter().chain(above).reduce(f64::max);
        column.most = most.into_iter().chain(below).reduce(f64::min);
        column.choices = self.choices(name, &property);
        self.check_bounds(name, &mut column);
        if column.choices.is_empty() {
            let step = property["multipleOf"].as_u64().and_then(|step| i64::try_from(step).ok());
            let bounds = (column.least, column.most);
            column.choices = match (&column.stored, property["multipleOf"].as_f64(), step) {
                (Stored::Decimal(decimals), Some(part), _) => multiples(part, *decimals, bounds),
                (Stored::Integer, _, Some(step @ 2..)) => integer_multiples(step, bounds),
                _ => Vec::new(),
            };
        }
        self.name_limits(name, &property, &column);
        column
    }

    fn stored(&self, name: &str, property: &Value, depth: usize) -> Stored {
        if let Some(value) = property.get("const") {
            return Stored::Known(json!({"type": "constant", "value": value}));
        }
        if let Some(regex) = property["pattern"].as_str() {
            if let Some(lengths) = pattern::lengths(regex) {
                let regex = match of_length(regex, lengths, property) {
                    Some(regex) => regex,
                    None => {
                        self.note(format!("the length of {name}, which its pattern does not give"));
                        regex.to_owned()
                    }
                };
                return Stored::Known(json!({"type": "pattern", "regex": regex}));
            }
            self.note(format!("the pattern {regex} of {name}, which cannot be parsed"));
        }
        let kind = kind(property);
        let length = property["maxLength"].as_u64().and_then(|length| u32::try_from(length).ok());
        let known = |field: Value| Stored::Known(field);
        match (kind.as_str(), property["format"].as_str().unwrap_or_default()) {
            ("integer", _) => Stored::Integer,
            ("number", _) => Stored::Decimal(decimals(property)),
            ("null", _) => known(json!({"type": "constant", "value": null})),
            ("boolean", _) => Stored::Boolean,
            ("array", _)
                if self.is_deepest(depth)
                    || property["maxItems"] == 0
                    || property["minItems"].as_u64().unwrap_or(0) == 0
                        && self.is_deepest(depth + 1)
                        && self.needs_members(&property["items"])
                    || property["prefixItems"].is_null()
                        && self.is_impossible(&property["items"]) =>
            {
                if property["minItems"].as_u64() > Some(0) {
                    self.note(format!("the number of items in {name}, which has to be empty"));
                }
                known(json!({"type": "constant", "value": []}))
            }
            ("object", _) if self.is_deepest(depth) => {
                let is_null = has_members(property) && may_be_null(property);
                if has_members(property) && !is_null {
                    self.note(format!("the properties of {name}, which is nested too deeply"));
                }
                let value = if is_null { Value::Null } else { json!({}) };
                known(json!({"type": "constant", "value": value}))
            }
            ("array", _) => {
                // All items of an array field have the same type, so we reduce a tuple to its first
                // item. Before draft 2020-12, `items` contained the tuple.
                let nth = |place: usize| {
                    let tuples = [&property["prefixItems"], &property["items"]];
                    tuples.into_iter().find_map(|tuple| tuple.get(place))
                };
                let first = nth(0);
                let items = self.column(name, first.unwrap_or(&property["items"]), depth + 1);
                let bound = |name: &str| property[name].as_u64().map(|count| count.min(100));
                let least = bound("minItems").unwrap_or(1);
                let others = property.get("items").filter(|items| items.is_object());
                let is_same = |place| nth(place).or(others).is_none_or(|item| first == Some(item));
                if first.is_some() && !(1..least as usize).all(is_same) {
                    self.note(format!("the items of {name} after the first"));
                }
                let longest = property["maxItems"].as_u64().unwrap_or(u64::MAX);
                if property["minItems"].as_u64().is_some_and(|count| count > least.min(longest)) {
                    self.note(format!("the number of items in {name}"));
                }
                let most = match first {
                    Some(_) => least,
                    None => bound("maxItems").unwrap_or(3).max(least).max(1),
                };
                if property["uniqueItems"] == true && first.is_none() && most > 1 {
                    return known(self.distinct(name, &items, least, most));
                }
                let item = Column { required: true, ..items }.inner_field();
                known(json!({"type": "array", "min": least, "max": most, "items": item}))
            }
            ("object", _) => {
                known(json!({"type": "object", "fields": self.fields(property, depth + 1)}))
            }
            _ if is_base64(property) => known(base64(property)),
            (_, "date-time") => Stored::Timestamp,
            (_, "date") => Stored::Date,
            // Times have an offset in RFC 3339.
            (_, "time") => known(
                json!({"type": "pattern", "regex": "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"}),
            ),
            (_, "duration") => known(
                json!({"type": "pattern", "regex": "P[1-9][DMWY]|P[1-9]DT[1-9]H|PT[1-9][HM]"}),
            ),
            (_, "json-pointer") => known(json!({"type": "pattern", "regex": "(/[a-z]{3,8}){1,3}"})),
            (_, "relative-json-pointer") => {
                known(json!({"type": "pattern", "regex": "[0-3](/[a-z]{3,8}){1,2}"}))
            }
            (_, "regex") => known(json!({"type": "pattern", "regex": REGEX})),
            (_, "hostname" | "idn-hostname") => {
                known(json!({"type": "pattern", "regex": "[a-z]{3,10}\\.example"}))
            }
            (_, "uuid") => Stored::Uuid,
            (_, "email" | "idn-email") => known(json!({"type": "person", "part": "email"})),
            (_, "uri" | "url" | "uri-reference" | "uri-template" | "iri" | "iri-reference") => {
                known(json!({"type": "url"}))
            }
            (_, "ipv4") => known(json!({"type": "ip"})),
            (_, "ipv6") => known(json!({"type": "ip", "version": 6})),
            _ if length == Some(0) => known(json!({"type": "constant", "value": ""})),
            _ if length.is_none() && by_name(name).is_none() && is_long(property) => {
                let letters = property["minLength"].as_u64().unwrap_or(0);
                known(json!({"type": "text", "words": letters.div_ceil(SHORTEST_WORD + 1)}))
            }
            _ if by_name(name).is_none()
                && property["minLength"].as_u64() == length.map(u64::from) =>
            {
                match length {
                    Some(length @ 1..=1_000) => {
                        let regex = format!("[A-Za-z0-9]{{{length}}}");
                        known(json!({"type": "pattern", "regex": regex}))
                    }
                    _ => Stored::Text(None),
                }
            }
            _ => Stored::Text(length),
        }
    }
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

/// Returns whether strings have a minimum length that text made of words can satisfy.
fn is_long(schema: &Value) -> bool {
    schema["minLength"].as_u64().is_some_and(|least| (3..=2_000).contains(&least))
}

/// Returns an expression whose matches also comply with the schema's length limits. The pair is the
/// minimum and maximum match length of `regex`.
fn of_length(regex: &str, (shortest, longest): (u64, u64), schema: &Value) -> Option<String> {
    let least = schema["minLength"].as_u64().unwrap_or(0);
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    if shortest >= least && longest <= most {
        return Some(regex.to_owned());
    }
    // If the expression just repeats a single character, we can adjust the number of repetitions.
    let (part, fewest, limit) = pattern::repeated(regex)?;
    let least = least.max(fewest);
    let most = most.min(limit.unwrap_or(least.max(longest)));
    (least <= most && most <= 1_000).then(|| format!("(?:{part}){{{least},{most}}}"))
}

/// Returns the type of a schema's values. If it isn't stated, it is inferred from other members.
pub fn kind(schema: &Value) -> String {
    let kinds = schema["type"].as_array();
    let kinds = kinds.and_then(|all| all.iter().find(|kind| *kind != "null").or(all.first()));
    let kind = match kinds.unwrap_or(&schema["type"]).as_str() {
        Some(kind) => kind,
        None if schema["properties"].is_object() || schema["required"].is_array() => "object",
        None if schema["prefixItems"].is_array() || !schema["items"].is_null() => "array",
        None => "",
    };
    kind.to_owned()
}
