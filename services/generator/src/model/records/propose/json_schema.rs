//! Proposes schemas for objects described by JSON Schema (draft 2020-12) or OpenAPI.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::column::{Column, Stored};
use super::encodings::{base64, is_base64};
use super::existing::is_name;
use super::formats::fits_pattern;
use super::names::by_name;
use super::narrowed::{has_members, may_be_null, without_definitions};
use super::sample::{distinct, shortened};
use super::schema_numbers::{decimals, integer_multiples, multiples, with_integral_counts};
use super::sizes::size;
use crate::model::records::fault::SchemaFault;
use crate::model::records::kinds::pattern;
use crate::model::records::parse::parse;
use crate::model::records::tables::Bounds;
use crate::model::seed::{SEEDED_DAY, Seed};

/// Maximum nesting depth of objects, arrays and references.
const DEEPEST: usize = 4;
/// Maximum numbers of nested properties to try, since recursive schemas have infinitely many. If
/// `records` would reject the proposal, e.g. for too many values per row, we try the next number.
const MOST_NESTED: [usize; 5] = [2_000, 500, 100, 20, 0];
/// Maximum size of the copies of schemas that a proposal takes, in addition to [`COPIES`].
const MOST_COPIED: usize = 20_000_000;
/// How often a proposal can copy the whole document.
const COPIES: usize = 100;
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
    let most_copied = MOST_COPIED + COPIES * size(&document);
    let mut why = String::new();
    for most_nested in MOST_NESTED.map(Some).into_iter().chain([None]) {
        let Some(made) = propose(&document, component, (most_nested, most_copied))? else {
            why = "its references and alternatives repeat too much: use --component".to_owned();
            continue;
        };
        let faults = faults(&made.0)?;
        if faults.is_empty() {
            return Ok(made);
        }
        let lines = faults.iter().map(|fault| format!("\n  {fault}"));
        why = format!("the proposal would be refused by records:{}", lines.collect::<String>());
    }
    Err(why)
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

/// Proposes a schema with at most `most_nested` nested properties, not counting required ones. With
/// `None`, all objects and arrays are empty. Returns `None` if the copies of schemas would exceed
/// `most_copied`.
fn propose(
    document: &Value,
    component: Option<&str>,
    (most_nested, most_copied): (Option<usize>, usize),
) -> Result<Option<(Value, Vec<String>)>, String> {
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
        most_copied,
        copied: Cell::new(0),
        broken: RefCell::default(),
        targets: RefCell::default(),
    };
    let mut schema = without_definitions(schema);
    if reader.outlined(&schema)["type"] == "array" {
        schema = reader.resolved(&schema)["items"].take();
    }
    let rows = reader.kinds_of_rows(&schema);
    if reader.is_exhausted() {
        return Ok(None);
    }
    if rows.is_empty() {
        let known = document["components"]["schemas"].as_object();
        let known = known.map(|all| all.keys().cloned().collect::<Vec<_>>().join(", "));
        return Err(match known {
            Some(names) => format!("choose a component with properties: {names}"),
            None => "the schema does not have any properties".to_owned(),
        });
    }
    let (whole, ..) = reader.combined(&schema, true);
    let title = whole.get("title").and_then(Value::as_str).filter(|_| component.is_none());
    let name = title.unwrap_or(name);
    let fields = reader.fields_of_rows(&rows);
    if reader.is_exhausted() {
        return Ok(None);
    }
    let mut broken = reader.broken.into_inner();
    if !is_name(name) {
        broken.push(format!("the name {name}, which is too long or has other characters"));
    }
    broken.sort();
    broken.dedup();
    Ok(Some((json!({"name": shortened(name), "fields": fields}), broken)))
}

/// Reads the schemas in a document.
pub struct Reader<'a> {
    pub document: &'a Value,
    /// Once there are this many nested properties, objects and arrays are left empty. If `None`,
    /// all of them are.
    most_nested: Option<usize>,
    /// Number of nested properties so far.
    pub nested: Cell<usize>,
    /// Once the copies of schemas are larger than this, the proposal is abandoned. The number of
    /// nested properties doesn't limit them, as each can refer to a large part of the document.
    pub most_copied: usize,
    /// Size of the copies so far.
    pub copied: Cell<usize>,
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
    pub fn fields(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let properties = self.properties(schema);
        let names = distinct(properties.keys().map(String::as_str));
        let all: HashSet<_> = names.iter().map(String::as_str).collect();
        let required = schema["required"].as_array().into_iter().flatten();
        let required: HashSet<_> = required.filter_map(Value::as_str).collect();
        let mut fields = Vec::new();
        for ((name, property), own) in properties.iter().zip(&names) {
            let is_required = required.contains(name.as_str());
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
        depth >= DEEPEST
            || self.most_nested.is_none_or(|most| depth > 0 && self.nested.get() >= most)
    }

    pub fn column(&self, name: &str, property: &Value, depth: usize) -> Column {
        let is_deepest = self.is_deepest(depth);
        let (whole, alternatives, is_one_of) = self.combined(property, is_deepest);
        self.name_ignored(name, &whole);
        if !alternatives.is_empty() && !is_deepest {
            let mut variants = self.variants(name, &whole, &alternatives);
            if is_one_of {
                self.set_apart(name, &mut variants);
            }
            return self.either(name, &whole, &variants, depth);
        }
        let property = self.first((whole, alternatives, is_one_of), is_deepest);
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
        if !is_deepest {
            self.name_size(name, &property);
        }
        self.name_limits(name, &property, &column);
        column
    }

    fn stored(&self, name: &str, property: &Value, depth: usize) -> Stored {
        if let Some(value) = property.get("const") {
            return Stored::Known(json!({"type": "constant", "value": value}));
        }
        let fits = fits_pattern(property);
        if let Some(regex) = property["pattern"].as_str().filter(|_| fits != Some(true)) {
            if let Some(lengths) = pattern::lengths(regex) {
                if fits == Some(false) {
                    self.note(format!("the format of {name}, which its pattern does not give"));
                }
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

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::propose;

    #[test]
    fn copies_of_schemas_are_bounded() {
        // Each object allows all properties of the document, so their copies have a size of more
        // than 30,000.
        let texts = (0..40).map(|number| (format!("t{number}"), json!({"type": "string"})));
        let objects = (0..40).map(|number| {
            let object = json!({"type": "object", "description": "All of it", "$ref": "#"});
            (format!("o{number}"), object)
        });
        let mut properties: Map<String, Value> = texts.chain(objects).collect();
        properties.insert("list".to_owned(), json!({"items": {"allOf": [{"$ref": "#"}]}}));
        let document = json!({"type": "object", "properties": properties});
        let made = |most_nested| propose(&document, None, (most_nested, 30_000)).unwrap();
        assert!(made(Some(2_000)).is_none() && made(Some(0)).is_none());
        let (schema, broken) = made(None).unwrap();
        assert_eq!(schema["fields"].as_array().map(Vec::len), Some(81));
        assert!(broken.is_empty(), "{broken:?}");
    }
}
