//! Parses the tables in a schema, except for their fields.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use jiff::civil::Date;
use serde_json::Value;

use super::children::{self, Children, RawChildren};
use super::fault::Faults;
use super::field::FieldKey;
use super::members::Members;
use crate::model::names::{self, Culture};
use crate::model::seed::Seed;

/// Maximum length of a name in characters.
const NAME: usize = 64;
/// Maximum number of sets in `uniqueTogether`. This is enough over HTTP, where the 200 fields of a
/// table make up at most 100 pairs.
const SETS: usize = 100;
/// Maximum number of rows per table.
const ROWS: u64 = 1 << 40;
/// Number of rows if neither the schema nor the caller specifies one.
const USUAL_ROWS: u64 = 10;

/// Limits for a schema, along with the seed and the reference date for its values.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The seed that determines all values.
    pub seed: Seed,
    /// The reference date for ages, dates and cards.
    pub day: Date,
    /// Whether the caller skips rows at the start of each table.
    pub is_part: bool,
    /// Whether the rows are written as SQL, which cannot express all strings.
    pub is_sql: bool,
    /// Number of rows for tables that don't specify one.
    pub rows: Option<u64>,
    /// Maximum number of tables per schema.
    pub most_tables: usize,
    /// Maximum number of fields per table.
    pub most_fields: usize,
    /// Maximum number of rows per table.
    pub most_rows: u64,
}

/// A table whose fields haven't been parsed yet.
pub struct RawTable<'a> {
    pub pointer: String,
    pub name: String,
    pub rows: u64,
    /// Whether the schema specifies a row count.
    pub has_rows: bool,
    /// Whether the schema leaves the row count to the caller.
    pub is_open: bool,
    pub locale: &'static Culture,
    pub fields: Vec<RawField<'a>>,
    /// The position of each field, by name.
    places: HashMap<&'a str, usize>,
    /// Sets of fields that must be unique as a combination.
    pub sets: Vec<RawSet<'a>>,
    /// The parsed `childrenOf` member, until the parent table has been found.
    pub raw_children: Option<RawChildren<'a>>,
    /// Assigns the rows to their parents.
    pub children: Option<Rc<Children>>,
}

impl<'a> RawTable<'a> {
    /// Returns the position of a field.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Returns a field by name.
    pub fn field(&self, name: &str) -> Option<&RawField<'a>> {
        self.fields.get(self.place(name)?)
    }
}

/// Fields that must be unique as a combination.
pub struct RawSet<'a> {
    pub pointer: String,
    pub names: Vec<&'a str>,
}

pub struct RawField<'a> {
    pub pointer: String,
    pub name: &'a str,
    pub value: &'a Value,
}

pub fn read_tables<'a>(
    schema: &'a Value,
    bounds: &Bounds,
    faults: &mut Faults,
) -> Option<Vec<RawTable<'a>>> {
    let mut members = Members::of(schema, String::new(), faults)?;
    if members.value("fields").is_some() {
        let members = Members::of(schema, String::new(), faults)?;
        let mut tables = vec![read_table(members, names::american(), bounds, faults)?];
        find_parents(&mut tables, bounds, faults);
        return Some(tables);
    }
    let locale = culture(&mut members, names::american(), faults);
    let tables = members.required("tables", faults).and_then(Value::as_array);
    members.end("a schema", faults);
    let Some(tables) = tables.filter(|tables| (1..=bounds.most_tables).contains(&tables.len()))
    else {
        faults.add("/tables", format!("must be an array of 1 to {} tables", bounds.most_tables));
        return None;
    };
    let mut read: Vec<RawTable<'a>> = Vec::new();
    for (place, table) in tables.iter().enumerate() {
        let table = Members::of(table, format!("/tables/{place}"), faults)
            .and_then(|members| read_table(members, locale, bounds, faults));
        let Some(table) = table else { continue };
        if read.iter().any(|other| other.name == table.name) {
            faults.add(format!("{}/name", table.pointer), "is already the name of another table");
        }
        read.push(table);
    }
    find_parents(&mut read, bounds, faults);
    Some(read)
}

fn read_table<'a>(
    mut members: Members<'a>,
    locale: &'static Culture,
    bounds: &Bounds,
    faults: &mut Faults,
) -> Option<RawTable<'a>> {
    let name = members.text("name", faults).unwrap_or("records");
    check_name(name, members.at("name"), faults);
    let locale = culture(&mut members, locale, faults);
    let most = i64::try_from(bounds.most_rows.min(ROWS)).unwrap_or(i64::MAX);
    let own = members.integer("rows", -1, (0, most), faults);
    let own = u64::try_from(own).ok();
    let is_open = own.is_none()
        && members.value("maxRows").is_none()
        && members.value("childrenOf").is_none();
    let most = members.integer("maxRows", most, (1, most.max(1)), faults).unsigned_abs();
    let rows = own.or(bounds.rows).unwrap_or(USUAL_ROWS).min(most);
    let raw_children = children::read(&mut members, faults);
    if members.value("childrenOf").is_some() && own.is_some() {
        faults.add(members.at("rows"), "must be omitted with childrenOf, which gives the number");
    }
    let fields = members.required("fields", faults).and_then(Value::as_array);
    let mut sets = Vec::new();
    if let Some(pair) = members.array("uniquePair", faults) {
        let text = "must be the names of two fields";
        sets.extend(read_set(pair, members.at("uniquePair"), (2, text), faults));
    }
    let together = members.array("uniqueTogether", faults).unwrap_or_default();
    if together.len() > SETS {
        faults.add(members.at("uniqueTogether"), format!("must have at most {SETS} sets of names"));
    }
    for (place, set) in together.iter().take(SETS).enumerate() {
        let pointer = format!("{}/{place}", members.at("uniqueTogether"));
        let text = "must be an array of the names of 2 to 8 fields";
        let set = set.as_array().map_or(&[][..], Vec::as_slice);
        sets.extend(read_set(set, pointer, (8, text), faults));
    }
    let (pointer, at) = (members.pointer.clone(), members.at("fields"));
    members.end("a table", faults);
    let Some(fields) = fields.filter(|fields| (1..=bounds.most_fields).contains(&fields.len()))
    else {
        faults.add(at, format!("must be an array of 1 to {} fields", bounds.most_fields));
        return None;
    };
    let fields = raw_fields(fields, &at, faults);
    let mut places = HashMap::new();
    for (place, field) in fields.iter().enumerate() {
        places.entry(field.name).or_insert(place);
    }
    Some(RawTable {
        pointer,
        name: name.to_owned(),
        rows,
        has_rows: own.is_some(),
        is_open,
        locale,
        fields,
        places,
        sets,
        raw_children,
        children: None,
    })
}

fn read_set<'a>(
    names: &'a [Value],
    pointer: String,
    (most, text): (usize, &str),
    faults: &mut Faults,
) -> Option<RawSet<'a>> {
    let names: Option<Vec<_>> = names.iter().map(Value::as_str).collect();
    let fits = |names: &Vec<&str>| {
        let is_twice = |(place, name)| names[..place].contains(name);
        (2..=most).contains(&names.len()) && !names.iter().enumerate().any(is_twice)
    };
    match names.filter(fits) {
        Some(names) => Some(RawSet { pointer, names }),
        None => {
            faults.add(pointer, text);
            None
        }
    }
}

pub fn raw_fields<'a>(fields: &'a [Value], at: &str, faults: &mut Faults) -> Vec<RawField<'a>> {
    let (mut read, mut known) = (Vec::new(), HashSet::new());
    for (place, value) in fields.iter().enumerate() {
        let pointer = format!("{at}/{place}");
        let name = value.get("name").and_then(Value::as_str);
        let Some(name) = name else {
            faults.add(format!("{pointer}/name"), "is required and must be a string");
            continue;
        };
        check_name(name, format!("{pointer}/name"), faults);
        if !known.insert(name) {
            faults.add(format!("{pointer}/name"), "is already the name of another field");
        }
        read.push(RawField { pointer, name, value });
    }
    read
}

fn check_name(name: &str, pointer: String, faults: &mut Faults) {
    let fits = (1..=NAME).contains(&name.chars().count())
        && !name.chars().any(|letter| letter.is_control() || letter == '"');
    if !fits {
        faults.add(
            pointer,
            format!("must be 1 to {NAME} characters long, without control characters or \""),
        );
    }
}

pub fn culture(
    members: &mut Members<'_>,
    default: &'static Culture,
    faults: &mut Faults,
) -> &'static Culture {
    let Some(code) = members.text("locale", faults) else { return default };
    names::find(code).unwrap_or_else(|| {
        faults.add(
            members.at("locale"),
            format!("{code} is unknown; /api/Name/Cultures lists the cultures"),
        );
        default
    })
}

/// Finds the parent tables for `childrenOf`, and sets the row counts of the child tables.
fn find_parents(tables: &mut [RawTable<'_>], bounds: &Bounds, faults: &mut Faults) {
    let mut waiting: Vec<_> =
        (0..tables.len()).filter(|place| tables[*place].raw_children.is_some()).collect();
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|place| {
            let parent = tables[*place].raw_children.as_ref().map(|children| children.table);
            let parent = tables.iter().find(|table| Some(table.name.as_str()) == parent);
            parent.is_none_or(|parent| parent.raw_children.is_none())
        });
        let Some(ready) = ready else {
            for place in waiting {
                let pointer = format!("{}/childrenOf/table", tables[place].pointer);
                faults.add(pointer, "is a child of its own table, through other tables");
            }
            return;
        };
        let place = waiting.swap_remove(ready);
        let Some(raw) = tables[place].raw_children.take() else { continue };
        let Some(parent) = tables.iter().position(|table| table.name == raw.table) else {
            let known: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            let text = format!("must be one of {}", known.join(", "));
            faults.add(format!("{}/table", raw.pointer), text);
            continue;
        };
        let (parents, has_rows) = (tables[parent].rows, tables[parent].has_rows);
        let table = &mut tables[place];
        let key = FieldKey::new(&bounds.seed, &table.name, "childrenOf");
        let pointer = raw.pointer.clone();
        let children = Children::new(raw, (parent, parents), key, place);
        if children.rows() > bounds.most_rows {
            let text =
                format!("generates {} rows; the maximum is {}", children.rows(), bounds.most_rows);
            faults.add(pointer, text);
        }
        (table.rows, table.has_rows) = (children.rows(), has_rows);
        table.children = Some(Rc::new(children));
    }
}
